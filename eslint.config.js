import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

/** The rooms, in the one direction that imports may point: each may import itself and those before it. */
const ROOMS = ["decode", "verify", "appraise", "report"];
const BASE = ["bytes", "errors", "checks"];

const later = (room) =>
  ROOMS.slice(ROOMS.indexOf(room) + 1)
    .concat("client", "lab", "cli")
    .map((name) => `**/${name}/**`);

export default tseslint.config(
  { ignores: ["dist/", "coverage/"] },
  eslint.configs.recommended,
  tseslint.configs.strict,
  {
    rules: {
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-extraneous-class": "off",
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/explicit-function-return-type": ["error", { allowExpressions: true }],
      "no-unused-private-class-members": "off",
      "no-control-regex": "off",
      "max-len": ["error", { code: 120 }],
      "max-lines-per-function": ["error", { max: 60, skipComments: true, skipBlankLines: true }],
      eqeqeq: "error",
    },
  },
  {
    // The core runs in a browser: nothing of Node, no clock, no randomness.
    files: ["src/*.ts", ...ROOMS.map((room) => `src/${room}/**/*.ts`)],
    rules: {
      "no-restricted-imports": ["error", { patterns: ["node:*"] }],
      "no-restricted-globals": ["error", "Buffer", "process", "require", "setTimeout"],
      "no-restricted-syntax": [
        "error",
        {
          selector: "CallExpression[callee.object.name='Date'][callee.property.name='now']",
          message: "time is an argument",
        },
        { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: "time is an argument" },
        {
          selector: "CallExpression[callee.object.name='Math'][callee.property.name='random']",
          message: "randomness is an argument",
        },
      ],
    },
  },
  ...ROOMS.map((room) => ({
    files: [`src/${room}/**/*.ts`],
    rules: { "no-restricted-imports": ["error", { patterns: ["node:*", ...later(room)] }] },
  })),
  {
    files: BASE.map((name) => `src/${name}.ts`),
    rules: { "no-restricted-imports": ["error", { patterns: ["node:*", ...later("decode"), "**/decode/**"] }] },
  },
  {
    files: ["test/**", "eslint.config.js", "vitest.config.ts"],
    rules: {
      "max-lines-per-function": "off",
      "@typescript-eslint/explicit-function-return-type": "off",
      "no-undef": "off",
    },
  },
);
