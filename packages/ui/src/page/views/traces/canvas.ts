// A canvas as sharp as the screen. Its size must only be set when it changes: setting it clears what was drawn.

/** Give the canvas a size in CSS pixels; its context then counts in these. */
export const prepareCanvas = (canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D => {
  const ratio = devicePixelRatio || 1;
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext('2d', { alpha: false }) as CanvasRenderingContext2D;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
};
