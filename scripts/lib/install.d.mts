export function isInstalled(dir: string, isWhole?: boolean): boolean;
export function ensureInstalled(dir: string, what?: string, npmOptions?: readonly string[], isWhole?: boolean): void;
