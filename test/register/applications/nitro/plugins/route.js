import { setRoute } from 'spanline/instrument';

// As docs/instrumentation.md has it.
export default defineNitroPlugin(({ hooks }) => {
  const name = (event) => {
    const path = event?.context.matchedRoute?.path;
    if (path !== undefined && path !== '/**') setRoute(event.node.req, path);
  };
  hooks.hook('beforeResponse', name);
  hooks.hook('error', (_, { event }) => name(event));
});
