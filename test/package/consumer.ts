// A stranger's project with spanline, and what else of ours it asks for, installed from the tarballs that would be published. Used by the package tests.
// It must never see the checkout: what works here works for a user.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pack } from '../../scripts/lib/pack.mjs';
import { packages } from '../../scripts/lib/packages.mjs';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export const manifestIn = (place: string): Manifest =>
  JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as Manifest;

/** Brings what is packed up to date. */
export const build = (): void => {
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs')], { stdio: ['ignore', 'ignore', 'inherit'] });
};

export class Consumer {
  readonly dir = mkdtempSync(join(tmpdir(), 'spanline-consumer-'));
  readonly package = join(this.dir, 'node_modules/spanline');

  constructor() {
    build();
    this.#unpack('', this.package);
  }

  get manifest(): Manifest {
    return manifestIn(this.package);
  }

  /** Install another package of the workspace, by the name of its folder, and those it depends on; where it lies then. */
  install(name: string): string {
    const place = join(this.dir, 'node_modules/@spanline', name);
    if (!existsSync(place)) this.#unpack(`packages/${name}`, place);
    return place;
  }

  #unpack(folder: string, place: string): void {
    mkdirSync(place, { recursive: true });
    const one = packages.find((each) => each.folder === folder);
    execFileSync('tar', ['-xzf', pack(one).path, '-C', place, '--strip-components=1']);
    for (const dependency of Object.keys(manifestIn(place).dependencies ?? {})) {
      if (dependency.startsWith('@spanline/')) this.install(dependency.slice('@spanline/'.length));
      else if (dependency !== 'spanline') this.link(dependency);
    }
  }

  /** Make a package of the checkout's node_modules importable. */
  link(name: string): void {
    const place = join(this.dir, 'node_modules', name);
    if (existsSync(place)) return;
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(root, 'node_modules', name), place);
  }

  write(file: string, text: string): string {
    const path = join(this.dir, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return path;
  }

  /** Run Node in the project. */
  node(args: readonly string[], env: Readonly<Record<string, string>> = {}): Outcome {
    const { NODE_OPTIONS: _, ...inherited } = process.env;
    const child = spawnSync(process.execPath, args, { cwd: this.dir, env: { ...inherited, ...env }, encoding: 'utf8' });
    return { code: child.status, stdout: child.stdout, stderr: child.stderr };
  }

  dispose(): void {
    rmSync(this.dir, { recursive: true, force: true });
  }
}

export interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, { types: string; default: string }>>>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** The entries a program can import: `spanline`, `spanline/exporters/console`, ... */
export const codeEntries = (manifest: Manifest): string[] =>
  Object.entries(manifest.exports)
    .filter(([, target]) => typeof target === 'object')
    .map(([path]) => `${manifest.name}${path.slice(1)}`);
