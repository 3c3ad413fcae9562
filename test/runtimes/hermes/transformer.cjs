/** Transforms sources as React Native does: with its Babel preset, which is beside Metro. */
const { createRequire } = require("node:module");

const required = createRequire(`${process.cwd()}/package.json`);
const babel = required("@babel/core");
const preset = required("@react-native/babel-preset");

module.exports.transform = ({ filename, src, plugins, options }) => {
  const { ast, metadata } = babel.transformSync(src, {
    ...{ ast: true, code: false, babelrc: false, configFile: false, cloneInputAst: false },
    ...{ filename, plugins, sourceType: "module" },
    caller: { name: "metro", bundler: "metro", platform: options.platform },
    presets: [[preset, { ...options, enableBabelRuntime: false }]],
  });
  return { ast, metadata };
};
