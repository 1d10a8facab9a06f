// List and read every skill with the TypeScript client, which checks sizes, digests and frontmatters itself.
//
// usage: node --input-type=module - ERA (URL | COMMAND ARGUMENT…) <typescript.mjs     ERA: legacy or a modern version
// Prints "SKILLS FILES".
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [era, target, ...args] = process.argv.slice(2);
const mode = era === 'legacy' ? era : { pin: era };
const client = new Client({ name: 'interop', version: '1' }, { versionNegotiation: { mode } });
await client.connect(
  target.startsWith('http://')
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args, stderr: 'inherit' }),
);
const skillsClient = new SkillsClient(client);
const { skills } = await skillsClient.list();
let files = 0;
for (const skill of skills) {
  await skillsClient.get(skill.uri);
  for (const { uri } of skill.resources) {
    const { verified } = await skillsClient.read(skill, uri);
    if (!verified) throw new Error(`${uri} was not verified`);
    files += 1;
  }
}
await client.close();
console.log(skills.length, files);
