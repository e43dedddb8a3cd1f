// What cells may and may not ask of the browser.

import { describe, expect, test } from 'vitest';
import { createCdpPolicy } from './cdp-policy.ts';

const policy = createCdpPolicy({ inScratch: (path) => path.startsWith('/tmp/') });
const check = (method: string, params: Record<string, unknown> = {}) => policy.check({ method, params });

test.each([
  ['Page.navigate', { url: 'https://example.com/' }],
  ['Page.navigate', { url: 'about:blank#x' }],
  ['Page.navigate', { url: 'data:text/html,<p>' }],
  ['Page.handleJavaScriptDialog', { accept: true }],
  ['Runtime.evaluate', { expression: '1' }],
  ['Target.createBrowserContext', {}],
  ['Target.createTarget', { url: 'http://127.0.0.1:8080/' }],
  ['Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: '/tmp/downloads', eventsEnabled: true }],
  ['Browser.setDownloadBehavior', { behavior: 'deny' }],
  ['DOM.setFileInputFiles', { files: ['/tmp/a.txt'] }],
  ['Input.dispatchDragEvent', { data: { items: [], files: ['/tmp/a.txt'] } }],
  ['Tracing.start', { transferMode: 'ReturnAsStream' }],
  ['Fetch.continueRequest', { requestId: '1' }],
  ['Browser.getVersion', {}],
])('%s %j is let through unchanged', (method, params) => {
  expect(check(method, params)).toEqual({ method, params });
});

test.each([
  ['Browser.close'],
  ['Browser.crash'],
  ['Browser.crashGpuProcess'],
  ['Browser.executeBrowserCommand', { commandId: 'openTabSearch' }],
  ['Browser.getBrowserCommandLine'],
  ['Page.crash'],
  ['Target.exposeDevToolsProtocol', { targetId: 'x' }],
  ['Target.setRemoteLocations', { locations: [] }],
  ['Target.sendMessageToTarget', { message: '{"method":"Browser.close"}' }],
  ['Target.attachToBrowserTarget'],
  ['Target.createBrowserContext', { proxyServer: 'http://evil:1' }],
  ['Target.createBrowserContext', { proxyBypassList: '*' }],
  ['Target.createBrowserContext', { originsWithUniversalNetworkAccess: ['*'] }],
  ['Tracing.start', { perfettoConfig: 'x' }],
  ['Extensions.loadUnpacked', { path: '/tmp/x' }],
  ['SystemInfo.getInfo'],
  ['Tethering.bind', { port: 80 }],
  ['PWA.install', {}],
  ['Unheard.of', {}],
  ['Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: '/root' }],
  ['Browser.setDownloadBehavior', { behavior: 'allow' }],
  ['Browser.setDownloadBehavior', { behavior: 'default' }],
  ['Page.setDownloadBehavior', { behavior: 'allow', downloadPath: '/etc' }],
  ['DOM.setFileInputFiles', { files: ['/etc/passwd'] }],
  ['DOM.setFileInputFiles', { files: '/etc/passwd' }],
  ['Input.dispatchDragEvent', { data: { files: ['/etc/passwd'] } }],
  ['navigate'],
  ['Page.navigate\u0000'],
  ['__proto__.constructor'],
])('%s %j is refused', (method, params = {}) => {
  expect(() => check(method, params)).toThrow(/^CDP .* refused: /);
});

test.each([
  'file:///etc/passwd',
  'FILE:/etc/passwd',
  ' \n file:///etc/passwd',
  'f\tile:///etc/passwd',
  'view-source:file:///etc/passwd',
  'view-source:view-source:FILE:///x',
  'chrome://settings',
  'about:version',
  'about:blankets',
  'devtools://devtools/bundled/inspector.html',
  'chrome-extension://abc/x.html',
  'filesystem:file:///x',
  'blob:file:///x',
  'ftp://example.com/',
  'example.com',
  '',
])('no command goes to %j', (url) => {
  for (const method of [
    'Page.navigate',
    'Target.createTarget',
    'Network.loadNetworkResource',
    'Fetch.continueRequest',
  ]) {
    expect(() => check(method, { url }), method).toThrow('is not an address of the web');
  }
});

test('an address that is no text is refused', () => {
  expect(() => check('Page.navigate', { url: ['file:///etc/passwd'] })).toThrow('url must be a string');
  expect(() => check('Page.navigate', { url: { toString: () => 'http://x/' } })).toThrow('url must be a string');
});

describe('where requests are evidence', () => {
  const strict = createCdpPolicy({ inScratch: () => false });
  strict.refuseRewrites();
  const requestId = '1';

  test.each([
    ['Fetch.enable', { patterns: [{ urlPattern: '*', requestStage: 'Response' }] }],
    ['Fetch.continueRequest', { requestId, interceptResponse: true, url: undefined }],
    ['Fetch.continueResponse', { requestId }],
    ['Fetch.failRequest', { requestId, errorReason: 'Aborted' }],
    ['Fetch.continueWithAuth', { requestId, authChallengeResponse: { response: 'Default' } }],
    ['Network.continueInterceptedRequest', { interceptionId: '1' }],
    ['Network.setExtraHTTPHeaders', { headers: { 'x-a': 'b' } }],
    ['Network.setCookie', { name: 'a', value: 'b', domain: 'a.test' }],
  ])('%s %j is let through', (method, params) => {
    expect(strict.check({ method, params })).toEqual({ method, params });
  });

  test.each<[string, Record<string, unknown>]>([
    ['Fetch.continueRequest', { requestId, url: 'https://a.test/' }],
    ['Fetch.continueRequest', { requestId, method: 'GET' }],
    ['Fetch.continueRequest', { requestId, postData: 'YQ==' }],
    ['Fetch.continueRequest', { requestId, headers: [] }],
    ['Fetch.continueRequest', { requestId, url: null }],
    ['Fetch.continueResponse', { requestId, responseCode: 302 }],
    ['Fetch.continueResponse', { requestId, responseHeaders: [] }],
    ['Fetch.continueResponse', { requestId, binaryResponseHeaders: '' }],
    ['Fetch.fulfillRequest', { requestId, responseCode: 200 }],
    ['Network.continueInterceptedRequest', { interceptionId: '1', url: 'https://a.test/' }],
    ['Network.continueInterceptedRequest', { interceptionId: '1', rawResponse: 'YQ==' }],
    ['Network.loadNetworkResource', { url: 'https://a.test/', options: {} }],
  ])('%s %j is refused, and open elsewhere', (method, params) => {
    expect(() => strict.check({ method, params })).toThrow(/refused: the requests of this episode are recorded/);
    if (params.url !== null) expect(check(method, params)).toEqual({ method, params });
  });
});
