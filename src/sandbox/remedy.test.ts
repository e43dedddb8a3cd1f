import { expect, test } from 'vitest';
import { installRemedy, namespaceRemedy } from './remedy.ts';

const facts = (settings: Record<string, string>, inContainer = false) =>
  ({ platform: 'linux', inContainer, setting: (name: string) => settings[name] }) as const;

test('without bubblewrap the remedy names the package, and on other systems a container', () => {
  expect(installRemedy({ platform: 'linux' })).toContain('apt-get install bubblewrap');
  expect(installRemedy({ platform: 'darwin' })).toContain('docker run');
});

test.each([
  [
    'an AppArmor that restricts namespaces',
    { 'kernel/apparmor_restrict_unprivileged_userns': '1' },
    'apparmor_parser -r',
  ],
  ['a kernel that keeps them for root', { 'kernel/unprivileged_userns_clone': '0' }, 'sysctl -w kernel.unprivileged'],
  ['a limit of none', { 'user/max_user_namespaces': '0' }, 'sysctl -w user.max_user_namespaces'],
])('%s gets its own remedy', (_name, settings, remedy) => {
  expect(namespaceRemedy(facts(settings))).toContain(remedy);
});

test('in a container the remedy is how to start the container', () => {
  expect(namespaceRemedy(facts({ 'user/max_user_namespaces': '1000' }, true))).toContain('--cap-add SYS_ADMIN');
});
