// The two functions of jstat that detection calls; the package brings no types. It must declare nothing that is not called.
declare module 'jstat' {
  interface JStat {
    /** The regularised incomplete beta function I_x(a, b). */
    ibeta(x: number, a: number, b: number): number;
    readonly normal: { cdf(x: number, mean: number, sd: number): number };
  }
  const jStat: JStat;
  export default jStat;
}
