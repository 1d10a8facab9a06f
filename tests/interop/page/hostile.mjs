// A skill that tries to run a script wherever a page shows something of it. Each try sets `window.pwned`.
const run = 'window.pwned=1';
const tag = `"'><script>${run}</script><img src=x onerror="${run}"><svg onload="${run}">`;
const quoted = JSON.stringify(`${tag} \u202e\u0007`);

const markdown = `
# ${tag}

${tag}

<script>${run}</script>

<iframe srcdoc="<script>parent.pwned=1</script>"></iframe>
<style>body { display: none }</style>
<base href="https://elsewhere.example/">
<form action="https://elsewhere.example/"><input name=a><button formaction="javascript:${run}">go</button></form>
<meta http-equiv="refresh" content="0;url=https://elsewhere.example/">

[script](javascript:${run}) [vb](vbscript:x) [data](data:text/html,<script>${run}</script>) [upper](JaVaScRiPt:${run})
[entity](&#106;avascript:${run}) [tab](java&#9;script:${run}) [protocol](//elsewhere.example/) [file](file:///etc/passwd)
[web](https://elsewhere.example/?a=1&b="><script>) [quote](https://elsewhere.example/"onmouseover="${run})
<javascript:${run}> <https://elsewhere.example/>

![picture](https://elsewhere.example/x.png) ![data](data:image/svg+xml,<svg/onload=${run}>) ![js](javascript:${run})
[![linked](https://elsewhere.example/x.png "t")](javascript:${run})
[page](page.html) [picture](picture.svg) [up](../../../../etc/passwd)

[ref]

[ref]: javascript:${run} "title"

\`\`\`html"><script>${run}</script>
</code></pre><script>${run}</script>
\`\`\`

| ${tag.replaceAll('|', '')} | b |
|:-:|--:|
| <img src=x onerror=${run}> | \u202ereversed |

- [ ] <input onfocus=${run} autofocus>

> [!NOTE]
> <details open ontoggle=${run}>
`;

export const hostileNames = [
  'page.html',
  'picture.svg',
  'script.js',
  'other.md',
  `"><img src=x onerror=${run}>.txt`,
  `'-${run}-'.md`,
  'javascript:window.pwned=1',
  'gpj.\u202etxt.exe',
  'line\nfeed.txt',
  '&lt;b&gt;%3Cscript%3E?a=b#c.txt',
  `${'long-'.repeat(40)}name.txt`,
];

const texts = {
  'page.html': `<script>${run}</script>`,
  'picture.svg': `<svg xmlns="http://www.w3.org/2000/svg" onload="${run}"><script>${run}</script></svg>`,
  'script.js': run,
  'other.md': markdown,
};

export const hostile = {
  'hostile/SKILL.md': `---\nname: hostile\ndescription: ${quoted}\n${quoted}: ${quoted}\nmetadata:\n  ${quoted}: [${quoted}]\n---\n${markdown}`,
  'worse/SKILL.md': `---\nname: ${quoted}\ndescription: ${tag}: \u202e\n---\n`,
  [`<img src=x onerror=${run}>/SKILL.md`]: '---\nname: x\n---\n',
  ...Object.fromEntries(hostileNames.map((name) => [`hostile/${name}`, texts[name] ?? tag])),
};
