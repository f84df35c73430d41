// Light or dark: what the system says until the user chooses, which this browser then remembers; and a canvas as sharp as the screen, for drawing in
// its colors. The size of a canvas must only be set when it changes: setting it clears what was drawn.
import { useEffect, useState } from 'preact/hooks';

export type Theme = 'light' | 'dark';

const KEY = 'spanline-theme';
/** Told to all that draw: each component has a state of its own. */
const CHANGED = 'spanline-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

const current = (): Theme => {
  const chosen = localStorage.getItem(KEY);
  if (chosen === 'light' || chosen === 'dark') return chosen;
  return system.matches ? 'dark' : 'light';
};

/** The theme, and how to choose the other one. Canvas drawings take their colors from CSS variables anew when it changes. */
export const useTheme = (): readonly [theme: Theme, toggle: () => void] => {
  const [theme, setTheme] = useState(current);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    const update = (): void => setTheme(current());
    system.addEventListener('change', update);
    addEventListener(CHANGED, update);
    return () => {
      system.removeEventListener('change', update);
      removeEventListener(CHANGED, update);
    };
  }, [theme]);
  const toggle = (): void => {
    const next = theme === 'dark' ? 'light' : 'dark';
    localStorage.setItem(KEY, next);
    dispatchEvent(new Event(CHANGED));
  };
  return [theme, toggle];
};

/** The value of a CSS variable, for drawing on a canvas. */
export const cssColor = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** How wide an element is, in CSS pixels; 0 until it is shown. */
export const useWidth = (element: { readonly current: HTMLElement | null }): number => {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const shown = element.current as HTMLElement;
    const observer = new ResizeObserver(() => setWidth(shown.clientWidth));
    observer.observe(shown);
    return () => observer.disconnect();
  }, []);
  return width;
};

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
