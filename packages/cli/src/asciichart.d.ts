// The one function of asciichart that a trend is drawn with; the package brings no types.
declare module 'asciichart' {
  interface PlotOptions {
    readonly height?: number;
    readonly format?: (value: number) => string;
  }
  const asciichart: { plot(series: readonly number[], options?: PlotOptions): string };
  export default asciichart;
}
