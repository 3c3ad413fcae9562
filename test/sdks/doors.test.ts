/** What a service that lies on the wire tells the adapters of each SDK. */
import { tellLies } from "../support/lies.js";
import { SDK_DOORS } from "./doors.js";

await tellLies(SDK_DOORS);
