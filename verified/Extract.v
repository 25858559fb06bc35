(** The checker as an OCaml program. Integers are Zarith's; all else is as Coq extracts it. *)

Require Import Rollwise.Checker.
Require Import ExtrOcamlBasic ExtrOcamlZBigInt.

Extraction "checker.ml" check.
