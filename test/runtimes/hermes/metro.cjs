/** Bundles an entry as an application of React Native: `node metro.cjs ENTRY OUT`, in the folder of the runtimes. */
const { createRequire } = require("node:module");
const { dirname, join } = require("node:path");

const required = createRequire(`${process.cwd()}/package.json`);
const Metro = required("metro");
const { getDefaultConfig, mergeConfig } = required("metro-config");
const [, , entry, out, minify] = process.argv;

(async () => {
  const projectRoot = dirname(entry);
  const config = mergeConfig(await getDefaultConfig(projectRoot), {
    projectRoot,
    // Metro's own runtime is beside it, and not in the project.
    watchFolders: [projectRoot, join(process.cwd(), "node_modules/metro-runtime")],
    ...{ cacheStores: [], maxWorkers: 2, reporter: { update() {} } },
    resolver: {
      unstable_enablePackageExports: true,
      unstable_conditionNames: ["react-native", "require"],
      nodeModulesPaths: [join(process.cwd(), "node_modules")],
      useWatchman: false,
    },
    transformer: {
      babelTransformerPath: join(__dirname, "transformer.cjs"),
      getTransformOptions: async () => ({ transform: { inlineRequires: false } }),
    },
  });
  await Metro.runBuild(config, { entry, out, dev: false, minify: minify === "minify", platform: "ios" });
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
