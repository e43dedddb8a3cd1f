// What to do on a machine where the jail cannot be made. Texts for people, by what is wrong.

import { existsSync, readFileSync } from 'node:fs';

export type RemedyFacts = {
  readonly platform: NodeJS.Platform;
  /** Contents of a file under /proc/sys, trimmed; undefined where there is none. */
  readonly setting: (name: string) => string | undefined;
  readonly inContainer: boolean;
};

export function machineFacts(): RemedyFacts {
  return {
    platform: process.platform,
    setting: (name) => {
      const path = `/proc/sys/${name}`;
      return existsSync(path) ? readFileSync(path, 'utf8').trim() : undefined;
    },
    inContainer: existsSync('/.dockerenv') || existsSync('/run/.containerenv'),
  };
}

const CONTAINER =
  'docker run --rm -it --cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt apparmor=unconfined ' +
  '--security-opt systempaths=unconfined -v "$PWD":/app -w /app node:20-bookworm';

/** Where bubblewrap is not installed. */
export function installRemedy({ platform }: Pick<RemedyFacts, 'platform'> = process): string {
  if (platform !== 'linux') {
    return `The jail needs Linux. Run tabwright in a container or a virtual machine:\n  ${CONTAINER}\n  (then: apt-get install bubblewrap)`;
  }
  return [
    'Install bubblewrap:',
    '  Debian, Ubuntu:  apt-get install bubblewrap',
    '  Fedora:          dnf install bubblewrap',
    '  Arch:            pacman -S bubblewrap',
    '  Alpine:          apk add bubblewrap util-linux',
  ].join('\n');
}

/** Where bubblewrap is there and too old. */
export function versionRemedy(): string {
  return 'Install bubblewrap 0.8 or later: Debian 12, Ubuntu 24.04 and Fedora 38 have it, older ones do not.';
}

const APPARMOR_PROFILE = `abi <abi/4.0>,
include <tunables/global>
profile bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
}`;

/** Where bubblewrap is there and makes no namespaces. */
export function namespaceRemedy(facts: RemedyFacts): string {
  if (facts.setting('kernel/apparmor_restrict_unprivileged_userns') === '1') {
    return [
      'AppArmor keeps ordinary users from making namespaces (Ubuntu 23.10 and later). Allow bubblewrap alone, as root:',
      `  cat > /etc/apparmor.d/bwrap <<'EOF'\n${APPARMOR_PROFILE}\nEOF`,
      '  apparmor_parser -r /etc/apparmor.d/bwrap',
    ].join('\n');
  }
  if (facts.setting('kernel/unprivileged_userns_clone') === '0') {
    return 'Ordinary users may not make namespaces here. Allow it, as root:\n  sysctl -w kernel.unprivileged_userns_clone=1';
  }
  if (facts.setting('user/max_user_namespaces') === '0') {
    return 'No user namespaces are allowed here. Allow them, as root:\n  sysctl -w user.max_user_namespaces=10000';
  }
  if (facts.inContainer) {
    return `The container does not let bubblewrap make namespaces. Start it with the rights for that:\n  ${CONTAINER}`;
  }
  return 'The kernel refuses the namespaces that bubblewrap asks for. Run on a machine or in a virtual machine that grants them.';
}
