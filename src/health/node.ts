/** `bootproof/health/node`: the health of a watch, a worker or an audit, in a file and over HTTP. */
export { type Health, type HealthOptions, startHealth } from "./node-health.js";
export { type HealthAddress, MetricsMissingError } from "./node-server.js";
export type {
  HealthCheckpoint,
  HealthCommand,
  HealthPoll,
  HealthQueue,
  HealthState,
  HealthStatus,
  HealthSubject,
  HealthWork,
  QueueState,
  WatchedState,
} from "./state.js";
