export function nodePackage(major: number | string, arch?: string): string;
export function nodeOf(major: number | string): string;
export function nodeCommand(major: number | string, arch: string): string[];
