export declare function filtersOf(args: readonly string[]): string[];
