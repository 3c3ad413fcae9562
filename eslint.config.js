import eslint from "@eslint/js";
import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["dist/", "coverage/", "src/report/advice.js", "src/report/texts.js", "src/cli/demo-evidence.js"] },
  eslint.configs.recommended,
  tseslint.configs.strict,
  {
    rules: {
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-extraneous-class": "off",
      // An interface of nothing but its base gives a name to a type that is computed.
      "@typescript-eslint/no-empty-object-type": ["error", { allowInterfaces: "with-single-extends" }],
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
    // What a reader can hold in mind. Without exceptions: test/rooms.test.ts finds a comment that switches one off.
    files: ["src/**/*.ts", "bin/**"],
    rules: {
      complexity: ["error", 12],
      "max-params": ["error", 4],
      "max-depth": ["error", 3],
      "no-nested-ternary": "error",
    },
  },
  {
    // Time and randomness are arguments everywhere but where a program starts. What may import what, and which globals
    // there are, is in test/rooms.test.ts.
    files: ["src/**/*.ts"],
    ignores: [
      "src/cli/**",
      "src/lab/**",
      "src/client/**",
      "src/adapters/**",
      "src/page/browser.ts",
      "src/watch/node*.ts",
      "src/audit/node*.ts",
      "src/disk/**",
    ],
    rules: {
      "no-restricted-globals": ["error", "process"],
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
  {
    files: ["test/**", "bin/*.mjs", "eslint.config.js", "vitest.config.ts"],
    rules: {
      "max-lines-per-function": "off",
      "@typescript-eslint/explicit-function-return-type": "off",
      "no-undef": "off",
    },
  },
  { files: ["test/**/*.cjs"], rules: { "@typescript-eslint/no-require-imports": "off" } },
);
