// Ids in hex as 32-bit words.

/** The word at this digit. What is no hex is 0, which no id is. */
export const wordAt = (hex: string, at: number): number => Number.parseInt(hex.slice(at, at + 8), 16) || 0;
