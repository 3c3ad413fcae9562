/**
 * Types of the platform in the client's signatures. They are the platform's own types if it declares them (DOM, Node,
 * workers). Otherwise they have only the members that are used, so a program compiles on every platform.
 */

/** The instance type of a global class. */
type Instance<Name extends string, Otherwise> = typeof globalThis extends {
  readonly [K in Name]: { readonly prototype: infer T };
}
  ? T
  : Otherwise;

export type Signal = Instance<
  "AbortSignal",
  {
    readonly aborted: boolean;
    addEventListener(type: "abort", listener: () => void): void;
    removeEventListener(type: "abort", listener: () => void): void;
  }
>;

export type HttpHeaders = Instance<"Headers", { get(name: string): string | null }>;

interface HttpMessage {
  readonly headers: HttpHeaders;
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }>;
      cancel(): Promise<void>;
    };
  } | null;
}

export type HttpRequest = Instance<"Request", HttpMessage & { readonly method: string; readonly url: string }>;

export type HttpResponse = Instance<"Response", HttpMessage & { readonly status: number }>;

export type Fetch = typeof globalThis extends { readonly fetch: infer F }
  ? F
  : (
      url: string,
      request: {
        readonly method: string;
        readonly headers: Readonly<Record<string, string>>;
        readonly body: Uint8Array;
        readonly redirect: "manual";
        readonly signal: Signal;
      },
    ) => Promise<HttpResponse>;

/** A WebCrypto key. Its type is taken from the parameter of `sign`, since not every platform declares the class. */
type WebKey = typeof globalThis extends {
  readonly crypto: { readonly subtle: { sign(algorithm: never, key: infer Key, data: never): unknown } };
}
  ? Key
  : {
      readonly type: string;
      readonly extractable: boolean;
      readonly algorithm: { readonly name: string };
      readonly usages: readonly string[];
    };

export interface WebKeyPair {
  readonly publicKey: WebKey;
  readonly privateKey: WebKey;
}

type Credentials = Instance<"CredentialsContainer", { get(options: PlainPasskeyRequest): Promise<unknown> }>;

interface PlainPasskeyRequest {
  readonly publicKey: {
    readonly challenge: Uint8Array;
    readonly rpId: string;
    readonly userVerification: "discouraged" | "preferred" | "required";
    readonly allowCredentials?: {
      readonly id: Uint8Array;
      readonly type: "public-key";
      readonly transports?: string[];
    }[];
    readonly timeout?: number;
  };
  readonly signal?: Signal;
}

/** The argument of `navigator.credentials.get`. */
export type PasskeyRequest = NonNullable<Parameters<Credentials["get"]>[0]>;

export type PasskeyDescriptor = NonNullable<NonNullable<PasskeyRequest["publicKey"]>["allowCredentials"]>[number];
