/** Texts of other languages in a contract: configurations, ACLs and scripts, as files or inside ConfigMaps and commands. */
import type { TextView } from "../text/source.js";
import type { InputFile } from "./input.js";
import type { Command } from "./kubernetes/container-parts.js";
import type { KubeObject } from "./kubernetes/object.js";
import type { PlaneRole } from "./plane.js";

export interface TextOrigin {
  readonly input: InputFile;
  readonly view: TextView;
  /** File name, or key in its ConfigMap. */
  readonly name: string;
  /** Placeholders in it are tokens. */
  readonly templated: boolean;
  /** The ConfigMap that holds it. */
  readonly owner: KubeObject | undefined;
  /** Key in the ConfigMap. */
  readonly key: string | undefined;
}

/** A `redis.conf` or `sentinel.conf`. */
export interface ConfText extends TextOrigin {
  readonly mode: PlaneRole;
}

/** An ACL file. `role`: the plane that loads it, as far as it is known. */
export interface AclText extends TextOrigin {
  readonly role: PlaneRole | undefined;
}

/** Shell text: a script of a ConfigMap, a script file, or the inline script of a command. */
export interface ScriptText extends TextOrigin {
  readonly command: Command | undefined;
}
