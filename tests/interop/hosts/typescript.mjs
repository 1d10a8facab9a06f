// What the TypeScript client makes of servers: one JSON line for each directory that standard input names, a line each.
//
// usage: node --input-type=module - BINARY <<directories after the script cannot be given, so they come as arguments>>
// Prints {"listing": null, or why there is none; "skills": {URI: null, or why it does not load}; "files": {URI: why not}}.
import { Client } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [binary, ...directories] = process.argv.slice(2);

async function look(directory) {
  const client = new Client({ name: 'interop', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new StdioClientTransport({ command: binary, args: ['stdio', '--include-hidden', directory], stderr: 'ignore' }));
  const result = { listing: null, skills: {}, files: {} };
  try {
    const reader = new SkillsClient(client);
    const { skills } = await reader.list();
    for (const skill of skills) {
      result.skills[skill.uri] = await reader.read(skill).then(() => null, String);
      for (const { uri } of skill.resources) {
        if (uri !== skill.uri) await reader.read(skill, uri, { timeout: 20_000 }).catch((error) => { result.files[uri] = String(error); });
      }
    }
  } catch (error) {
    result.listing = String(error);
  }
  await client.close();
  return result;
}

for (const directory of directories) console.log(JSON.stringify(await look(directory)));
