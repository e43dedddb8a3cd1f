// Lint rules: the promises and unions that the compiler does not check, and the house rules that a machine can
// check (no console outside the command line, no default exports in src). Formatting is prettier's business.

import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const NO_DEFAULT_EXPORT = {
  selector: 'ExportDefaultDeclaration',
  message: 'Named exports only: a default export has a different name in every file that imports it.',
};

export default defineConfig(
  { ignores: ['dist/', 'coverage/', 'runs/', '.cache/', 'node_modules/', '**/fixtures/**'] },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // `satisfies never` at the end of a switch is the house's exhaustiveness check and looks like a useless expression.
      '@typescript-eslint/no-unused-expressions': 'off',
      // Implementations of asynchronous interfaces are often synchronous inside.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      eqeqeq: 'error',
      'no-console': 'error',
    },
  },
  { files: ['src/**/*.ts'], rules: { 'no-restricted-syntax': ['error', NO_DEFAULT_EXPORT] } },
  // What prints by trade.
  {
    files: ['src/cli/**/*.ts', 'bench/**/*.ts', 'conformance/**/*.ts', 'scripts/**/*.ts', 'examples/**/*.ts'],
    rules: { 'no-console': 'off' },
  },
);
