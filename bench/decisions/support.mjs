// Shared by the decision benchmarks: time a function in rounds and print minimum and median. Never judges.

/** Nanoseconds an operation: `fn` does `operations` of them a call. */
export const time = (label, operations, fn) => {
  for (let i = 0; i < 5000; i++) fn();
  const rounds = [];
  for (let round = 0; round < 40; round++) {
    const begin = process.hrtime.bigint();
    for (let i = 0; i < 500; i++) fn();
    rounds.push(Number(process.hrtime.bigint() - begin) / 500 / operations);
  }
  rounds.sort((a, b) => a - b);
  console.log(`${label.padEnd(44)} min ${rounds[0].toFixed(1)}  median ${rounds[20].toFixed(1)} ns`);
};
