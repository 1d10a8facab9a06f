// Subscribe with the TypeScript client, change a file, and wait to be told of it.
//
// usage: node --input-type=module - ERA FILE URI (URL | COMMAND ARGUMENT…) <live.mjs     ERA: legacy or a modern version
// Prints "told" when both the listing and the resource at URI have been announced, and the subscription has ended well.
import { appendFileSync } from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const [era, file, uri, target, ...args] = process.argv.slice(2);
const mode = era === 'legacy' ? era : { pin: era };
const client = new Client({ name: 'interop', version: '1' }, { versionNegotiation: { mode } });

const listing = new Promise((resolve) =>
  client.setNotificationHandler('notifications/resources/list_changed', resolve),
);
const resource = new Promise((resolve) =>
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri)),
);
await client.connect(
  target.startsWith('http://')
    ? new StreamableHTTPClientTransport(new URL(target))
    : new StdioClientTransport({ command: target, args, stderr: 'inherit' }),
);
const { subscribe, listChanged } = client.getServerCapabilities().resources;
if (!subscribe || !listChanged) throw new Error('the server declares no notifications');

const before = (await client.listResources()).resources.length;
let subscription;
if (era === 'legacy') {
  await client.subscribeResource({ uri });
} else {
  subscription = await client.listen({ resourcesListChanged: true, resourceSubscriptions: [uri] });
  const { resourcesListChanged, resourceSubscriptions } = subscription.honoredFilter;
  if (!resourcesListChanged || resourceSubscriptions?.[0] !== uri) throw new Error('not all is honoured');
}
appendFileSync(file, '\nChanged.\n');
await listing;
if ((await resource) !== uri) throw new Error('told of another resource');
const { contents } = await client.readResource({ uri });
if (!contents[0].text.endsWith('\nChanged.\n')) throw new Error('told of a change that is not served');
if ((await client.listResources()).resources.length !== before) throw new Error('the listing has another length');
if (subscription) {
  await subscription.close();
  if ((await subscription.closed) !== 'local') throw new Error('the subscription broke');
}
await client.close();
console.log('told');
