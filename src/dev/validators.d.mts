import type { Plugin } from "vite";

export function viteValidators(): Plugin;
