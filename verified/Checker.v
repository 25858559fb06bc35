(** The checker of certificates: definitions, and the program that is extracted to OCaml.

    A certificate describes a game position by position. In every position the seats have _roles_:
    role 0 has the turn, role 1 has the next one, and so on. A position has throws with weights. After
    a throw the mover chooses an action. An action pays a reward to each role, and each of its outcomes
    ends the game with a payoff for each role, or leads to a position. On the way the turn advances by
    some seats.

    All numbers are integers. Payoffs, rewards and bounds have one common unit, which no rule depends on.
    The checker reads a position once and compares sums of products. [Soundness.v] proves the meaning
    of its answer. *)

Require Import ZArith List Bool Arith.
Import ListNotations.
Open Scope Z_scope.

(** * Games and claims *)

Inductive target :=
| End (row : list Z)             (* the payoff of each role *)
| Go (seats : nat) (to : Z).     (* the number of seats by which the turn advances; a position *)

Record action := {
  share : Z;                     (* its weight in the table: 0 or [mixed], unless the table mixes *)
  reward : list Z;               (* of each role *)
  outcomes : list (Z * target)   (* with weights, whose sum is [lot] *)
}.

Record throw := { weight : Z; actions : list action }.

Record position := {
  lot : Z;                       (* the total weight of the outcomes of each action *)
  mixed : Z;                     (* the total share of the actions after each throw *)
  throws : list throw
}.

Record claims := {
  upper : list Z;                (* no deviation brings a role more than this *)
  lower : list Z;                (* the table brings a role at least this *)
  ranks : list Z                 (* for each role that may leave the table: see [descends] *)
}.

Record certificate := {
  players : nat;
  zero_sum : bool;               (* for two players: what one gets, the other loses *)
  endless : option (list Z);     (* the worth of endless play to each role that leaves the table;
                                    [None]: play ends, whatever the players do *)
  size : Z;                      (* the positions are 0, 1, ..., size - 1 *)
  get : Z -> position;           (* the program asks once for each, in order *)
  claimed : Z -> claims;
  most : Z;                      (* no less than any lot, times the weight of all throws *)
  height : Z;                    (* more than any rank *)
  range : Z                      (* no less than the absolute value of any bound *)
}.

(** The role of a seat after the turn has advanced. *)
Definition turn (players role seats : nat) : nat := ((role + players - seats) mod players)%nat.

Definition sum {A} (f : A -> Z) (l : list A) : Z := fold_right (fun x total => f x + total) 0 l.

Definition greatest {A} (f : A -> Z) (l : list A) : Z :=
  match l with
  | [] => 0
  | x :: rest => fold_right (fun y most => Z.max (f y) most) (f x) rest
  end.

Definition in_row (role : nat) (row : list Z) : Z := nth role row 0.

Section Check.

Variable c : certificate.

(** The claim [of] about the target of an outcome, for a role: its payoff, or its bound. *)
Definition claim (of : claims -> list Z) (role : nat) (t : target) : Z :=
  match t with
  | End row => in_row role row
  | Go seats to => in_row (turn (players c) role seats) (of (claimed c to))
  end.

(** The claim about an action, times [lot]. *)
Definition ahead (p : position) (of : claims -> list Z) (role : nat) (a : action) : Z :=
  lot p * in_row role (reward a) + sum (fun o => fst o * claim of role (snd o)) (outcomes a).

Definition total_weight (p : position) : Z := sum weight (throws p).

(** * The checks of a position *)

Definition known (t : target) : bool :=
  match t with
  | End _ => true
  | Go seats to => (seats <? players c)%nat && (0 <=? to) && (to <? size c)
  end.

Definition modest (q : claims) : bool :=
  forallb (fun r => (0 <=? r) && (r <? height c)) (ranks q)
  && forallb (fun x => Z.abs x <=? range c) (upper q ++ lower q).

Definition well_formed (p : position) : bool :=
  (0 <? lot p) && (0 <? mixed p) && (0 <? total_weight p) && (lot p * total_weight p <=? most c)
  && forallb (fun t =>
       (0 <? weight t) && (sum share (actions t) =? mixed p)
       && forallb (fun a =>
            (0 <=? share a) && (sum fst (outcomes a) =? lot p)
            && forallb (fun o => (0 <? fst o) && known (snd o)) (outcomes a)) (actions t)) (throws p).

(** By the table, a throw brings a role the mean over the shares; times [lot] and [mixed]. *)
Definition by_table (p : position) (of : claims -> list Z) (role : nat) (t : throw) : Z :=
  sum (fun a => share a * ahead p of role a) (actions t).

(** A deviating mover has the best action; the other roles can only watch. *)
Definition by_deviation (p : position) (role : nat) (t : throw) : Z :=
  match role with
  | O => mixed p * greatest (ahead p upper role) (actions t)
  | S _ => by_table p upper role t
  end.

Definition scale (p : position) : Z := total_weight p * mixed p * lot p.

(** If play may be endless, the table guarantees what the opponent's deviations leave. *)
Definition bounded (p : position) (q : claims) (role : nat) : bool :=
  (sum (fun t => weight t * by_deviation p role t) (throws p) <=? scale p * in_row role (upper q))
  && match endless c with
     | None => scale p * in_row role (lower q) <=? sum (fun t => weight t * by_table p lower role t) (throws p)
     | Some _ => in_row role (lower q) =? - in_row (1 - role) (upper q)
     end.

(** A position is quiet for a role if endless play brings the role no more than its bound. *)
Definition quiet (role : nat) (q : claims) : bool :=
  match endless c with
  | None => false
  | Some worth => in_row role worth <=? in_row role (upper q)
  end.

(** After some throw, every action may end the game or lead to a smaller rank. While role 0 waits for a
    role that leaves the table, only the actions of the table count. *)
Definition descends (p : position) (q : claims) (role : nat) : bool :=
  existsb (fun t =>
    forallb (fun a =>
      ((0 <? role)%nat && (share a =? 0))
      || existsb (fun o =>
           match snd o with
           | End _ => true
           | Go seats to => in_row (turn (players c) role seats) (ranks (claimed c to)) <? in_row role (ranks q)
           end) (outcomes a)) (actions t)) (throws p).

(** The payoffs and rewards of both roles sum to zero. *)
Definition balanced (row : list Z) : bool := in_row 0 row + in_row 1 row =? 0.

Definition zero_sum_at (p : position) : bool :=
  forallb (fun t =>
    forallb (fun a =>
      balanced (reward a)
      && forallb (fun o => match snd o with End row => balanced row | Go _ _ => true end) (outcomes a))
      (actions t)) (throws p).

Definition good (i : Z) : bool :=
  let p := get c i in
  let q := claimed c i in
  well_formed p && modest q && forallb (fun role => bounded p q role && (quiet role q || descends p q role)) (seq 0 (players c))
  && (if zero_sum c then zero_sum_at p else true).

(** * The program *)

(** The first position with a fault, from [i] on; [None]: all are good. *)
Fixpoint first_fault (todo : nat) (i : Z) : option Z :=
  match todo with
  | O => None
  | S todo => if good i then first_fault todo (i + 1) else Some i
  end.

Definition header_is_good : bool :=
  (0 <? Z.of_nat (players c)) && (0 <? most c) && (0 <? height c) && (0 <=? range c)
  && match endless c with None => true | Some _ => zero_sum c && (players c =? 2)%nat end.

Definition check : option Z := if header_is_good then first_fault (Z.to_nat (size c)) 0 else Some (-1).

End Check.
