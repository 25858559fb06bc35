(** The meaning of the checker's answer.

    Play is described move by move, for [n] moves. A deviating seat has any strategy: it may depend on
    the whole history and may be random. All other seats play by the table of the certificate.

    If play may be endless, it stops in the first quiet position after [w] moves. The stop counts as endless
    play does: it is worth no less to the seat that deviates than any play that goes on. *)

Require Import ZArith QArith Qabs List Bool Arith Lia Lqa Psatz Qpower.
Require Import Rollwise.Checker.
Import ListNotations.
Open Scope Q_scope.

(** * Sums with an index *)

Fixpoint isum {A} (f : nat -> A -> Q) (k : nat) (l : list A) : Q :=
  match l with
  | [] => 0
  | x :: rest => f k x + isum f (S k) rest
  end.

Lemma isum_le {A} (f g : nat -> A -> Q) l : forall k,
  (forall i x, nth_error l i = Some x -> f (k + i)%nat x <= g (k + i)%nat x) ->
  isum f k l <= isum g k l.
Proof.
  induction l as [|x l IH]; intros k H; simpl; [lra|].
  pose proof (H 0%nat x eq_refl) as H0. rewrite Nat.add_0_r in H0.
  assert (isum f (S k) l <= isum g (S k) l).
  { apply IH. intros i y Hi. specialize (H (S i) y Hi).
    replace (S k + i)%nat with (k + S i)%nat by lia. exact H. }
  lra.
Qed.

Lemma isum_eq {A} (f g : nat -> A -> Q) l : forall k,
  (forall i x, nth_error l i = Some x -> f (k + i)%nat x == g (k + i)%nat x) ->
  isum f k l == isum g k l.
Proof.
  intros k H. apply Qle_antisym; apply isum_le; intros i x Hi; rewrite (H i x Hi); lra.
Qed.

Lemma isum_plus {A} (f g : nat -> A -> Q) l : forall k,
  isum (fun i x => f i x + g i x) k l == isum f k l + isum g k l.
Proof. induction l as [|x l IH]; intros k; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma isum_scale {A} (f : nat -> A -> Q) q l : forall k,
  isum (fun i x => q * f i x) k l == q * isum f k l.
Proof. induction l as [|x l IH]; intros k; simpl; [lra|]. rewrite IH. lra. Qed.

Lemma Qmult_le_l' a x y : 0 <= a -> x <= y -> a * x <= a * y.
Proof. intros. nra. Qed.

Lemma isum_nonneg {A} (f : nat -> A -> Q) l : forall k,
  (forall i x, nth_error l i = Some x -> 0 <= f (k + i)%nat x) -> 0 <= isum f k l.
Proof.
  intros k H.
  assert (H0 : isum (fun _ _ => 0 * 0) k l <= isum f k l)
    by (apply isum_le; intros i x Hi; specialize (H i x Hi); lra).
  rewrite isum_scale in H0. lra.
Qed.

Definition iz := inject_Z.
Definition frac (a b : Z) : Q := iz a / iz b.

Lemma isum_of_sum {A} (f : A -> Z) l : forall k, isum (fun _ x => iz (f x)) k l == iz (sum f l).
Proof.
  induction l as [|x l IH]; intros k; simpl; [reflexivity|].
  rewrite IH. unfold iz. rewrite inject_Z_plus. reflexivity.
Qed.

Lemma iz_le a b : (a <= b)%Z -> iz a <= iz b.
Proof. intros. unfold iz. rewrite <- Zle_Qle. assumption. Qed.

Lemma iz_lt a b : (a < b)%Z -> iz a < iz b.
Proof. intros. unfold iz. rewrite <- Zlt_Qlt. assumption. Qed.

Lemma iz_mult a b : iz (a * b) == iz a * iz b.
Proof. unfold iz. rewrite inject_Z_mult. reflexivity. Qed.

Lemma iz_plus a b : iz (a + b) == iz a + iz b.
Proof. unfold iz. rewrite inject_Z_plus. reflexivity. Qed.

Lemma iz_opp a : iz (- a) == - iz a.
Proof. unfold iz. rewrite inject_Z_opp. reflexivity. Qed.

Lemma frac_nonneg a b : (0 <= a)%Z -> (0 < b)%Z -> 0 <= frac a b.
Proof.
  intros Ha Hb. unfold frac. apply Qle_shift_div_l.
  - apply (iz_lt 0 b Hb).
  - rewrite Qmult_0_l. apply (iz_le 0 a Ha).
Qed.

(** A sum of fractions with one denominator. *)
Lemma isum_frac {A} (f : A -> Z) b l k : (0 < b)%Z ->
  isum (fun _ x => frac (f x) b) k l == frac (sum f l) b.
Proof.
  intros Hb. unfold frac, Qdiv.
  rewrite (isum_eq _ (fun _ x => / iz b * iz (f x))) by (intros; ring).
  rewrite isum_scale, isum_of_sum. ring.
Qed.

Lemma frac_same b : (0 < b)%Z -> frac b b == 1.
Proof.
  intros Hb. pose proof (iz_lt 0 b Hb) as H. unfold frac. field. intros E. rewrite E in H.
  apply (Qlt_irrefl 0 H).
Qed.

Lemma greatest_le {A} (f : A -> Z) l x : In x l -> (f x <= greatest f l)%Z.
Proof.
  destruct l as [|y l]; [contradiction|]. unfold greatest.
  assert (first : (f y <= fold_right (fun y m => Z.max (f y) m) (f y) l)%Z).
  { induction l as [|w l IH]; cbn [fold_right]; lia. }
  intros [<-|Hin]; [exact first|]. clear first.
  induction l as [|w l IH]; [contradiction|]. cbn [fold_right].
  destruct Hin as [<-|Hin]; [lia|]. specialize (IH Hin). lia.
Qed.

(** * Play *)

(** A move, as far as a strategy sees it: the position, and the indices of throw, action and outcome. *)
Definition event : Type := (Z * nat * nat * nat)%type.

(** The probability of an action of the mover, given the history, the position and the throw. *)
Definition strategy := list event -> Z -> nat -> nat -> Q.

Section Play.

Variable c : certificate.
Variable s : strategy.

(** The probability of an action if the deviating seat has role [d]. *)
Definition chance (h : list event) (d : nat) (i : Z) (t a : nat) (act : action) : Q :=
  match d with
  | O => s h i t a
  | S _ => frac (share act) (mixed (get c i))
  end.

(** The mean over the throws, actions and outcomes of a position, of rewards and of a number for each
    target. *)
Definition mean (p : position) (take : nat -> nat -> action -> Q) (r : action -> Q)
    (v : nat -> nat -> nat -> target -> Q) : Q :=
  isum (fun t T => frac (weight T) (total_weight p) *
    isum (fun a A => take t a A *
      (r A + isum (fun k o => frac (fst o) (lot p) * v t a k (snd o)) 0 (outcomes A)))
      0 (actions T)) 0 (throws p).

(** Whether play stops, after [w] further moves at the earliest. *)
Definition stops (w d : nat) (i : Z) : bool := (w =? 0)%nat && quiet c d (claimed c i).

(** A stop brings endless play's worth to the seat that deviates, role [d], and costs the other as much. *)
Definition at_stop (d j : nat) : Z :=
  match endless c with
  | None => 0
  | Some worth => if (j =? d)%nat then in_row d worth else - in_row d worth
  end%Z.

(** What role [j] gets on average in [n] moves: rewards, and the payoff if the game ends or stops.
    Role [d] deviates. *)
Fixpoint gain (w n : nat) (h : list event) (d j : nat) (i : Z) : Q :=
  match n with
  | O => 0
  | S n => if stops w d i then iz (at_stop d j) else
    mean (get c i) (chance h d i) (fun A => iz (in_row j (reward A)))
      (fun t a k g => match g with
        | End row => iz (in_row j row)
        | Go seats to =>
          gain (pred w) n ((i, t, a, k) :: h) (turn (players c) d seats) (turn (players c) j seats) to
        end)
  end.

(** The probability that the game has neither ended nor stopped after [n] moves. *)
Fixpoint lasting (w n : nat) (h : list event) (d : nat) (i : Z) : Q :=
  match n with
  | O => 1
  | S n => if stops w d i then 0 else
    mean (get c i) (chance h d i) (fun _ => 0)
      (fun t a k g => match g with
        | End _ => 0
        | Go seats to => lasting (pred w) n ((i, t, a, k) :: h) (turn (players c) d seats) to
        end)
  end.

(** The probabilities of a strategy, after every throw of every position. *)
Definition legal : Prop := forall h i t T,
  (0 <= i < size c)%Z -> nth_error (throws (get c i)) t = Some T ->
  (forall a, 0 <= s h i t a) /\ isum (fun a _ => s h i t a) 0 (actions T) == 1.

End Play.

(** The strategy of a seat that doesn't deviate. *)
Definition table (c : certificate) : strategy := fun _ i t a =>
  match nth_error (throws (get c i)) t with
  | Some T => match nth_error (actions T) a with
    | Some A => frac (share A) (mixed (get c i))
    | None => 0
    end
  | None => 0
  end.

(** * Means *)

(** The facts behind [well_formed]. *)
Record formed (c : certificate) (p : position) : Prop := {
  lot_pos : (0 < lot p)%Z;
  mixed_pos : (0 < mixed p)%Z;
  total_pos : (0 < total_weight p)%Z;
  most_large : (lot p * total_weight p <= most c)%Z;
  weight_pos : forall T, In T (throws p) -> (0 < weight T)%Z;
  share_sum : forall T, In T (throws p) -> sum share (actions T) = mixed p;
  share_nonneg : forall T A, In T (throws p) -> In A (actions T) -> (0 <= share A)%Z;
  outcome_sum : forall T A, In T (throws p) -> In A (actions T) -> sum fst (outcomes A) = lot p;
  outcome_pos : forall T A o, In T (throws p) -> In A (actions T) -> In o (outcomes A) -> (0 < fst o)%Z;
  outcome_known : forall T A o, In T (throws p) -> In A (actions T) -> In o (outcomes A) ->
    known c (snd o) = true
}.

(** The facts behind [modest]. *)
Lemma modest_facts c q : (0 < height c)%Z -> modest c q = true ->
  (forall d, 0 <= in_row d (ranks q) < height c)%Z /\
  forall x, In x (upper q ++ lower q) -> (Z.abs x <= range c)%Z.
Proof.
  intros Hh. unfold modest. rewrite andb_true_iff, !forallb_forall. intros [H Hrange]. split.
  - intros d. unfold in_row. destruct (nth_in_or_default d (ranks q) 0%Z) as [Hin | ->]; [|lia].
    specialize (H _ Hin). rewrite andb_true_iff, Z.leb_le, Z.ltb_lt in H. exact H.
  - intros x Hx. apply Z.leb_le. now apply Hrange.
Qed.

Lemma formed_of c p : well_formed c p = true -> formed c p.
Proof.
  unfold well_formed. rewrite !andb_true_iff, !forallb_forall, !Z.ltb_lt, !Z.leb_le.
  intros [[[[Hlot Hmixed] Htotal] Hmost] Hthrows].
  assert (HT : forall T, In T (throws p) -> (0 < weight T)%Z /\ sum share (actions T) = mixed p /\
    forall A, In A (actions T) -> (0 <= share A)%Z /\ sum fst (outcomes A) = lot p /\
    forall o, In o (outcomes A) -> (0 < fst o)%Z /\ known c (snd o) = true).
  { intros T HT. specialize (Hthrows T HT).
    rewrite !andb_true_iff, forallb_forall, Z.ltb_lt, Z.eqb_eq in Hthrows.
    destruct Hthrows as [[Hw Hs] Ha]. split; [exact Hw|split; [exact Hs|]].
    intros A HA. specialize (Ha A HA).
    rewrite !andb_true_iff, forallb_forall, Z.leb_le, Z.eqb_eq in Ha.
    destruct Ha as [[Hsh Ho] Hk]. split; [exact Hsh|split; [exact Ho|]].
    intros o Hin. specialize (Hk o Hin). rewrite andb_true_iff, Z.ltb_lt in Hk. exact Hk. }
  constructor; try assumption.
  - intros T InT. apply (HT T InT).
  - intros T InT. apply (HT T InT).
  - intros T A InT InA. apply (proj2 (proj2 (HT T InT)) A InA).
  - intros T A InT InA. apply (proj2 (proj2 (HT T InT)) A InA).
  - intros T A o InT InA Ino. apply (proj2 (proj2 (proj2 (proj2 (HT T InT)) A InA)) o Ino).
  - intros T A o InT InA Ino. apply (proj2 (proj2 (proj2 (proj2 (HT T InT)) A InA)) o Ino).
Qed.

Lemma mean_le c p take r v v' : formed c p ->
  (forall t T, nth_error (throws p) t = Some T -> forall a A, nth_error (actions T) a = Some A ->
    0 <= take t a A) ->
  (forall t T a A k o, nth_error (throws p) t = Some T -> nth_error (actions T) a = Some A ->
    nth_error (outcomes A) k = Some o -> v t a k (snd o) <= v' t a k (snd o)) ->
  mean p take r v <= mean p take r v'.
Proof.
  intros F Htake Hv. unfold mean.
  apply isum_le; intros t T HT; cbn [Nat.add].
  pose proof (nth_error_In _ _ HT) as InT.
  apply Qmult_le_l'; [apply frac_nonneg; [pose proof (weight_pos _ _ F T InT); lia|apply F]|].
  apply isum_le; intros a A HA; cbn [Nat.add].
  pose proof (nth_error_In _ _ HA) as InA.
  apply Qmult_le_l'; [now apply (Htake t T)|].
  apply Qplus_le_r.
  apply isum_le; intros k o Ho; cbn [Nat.add].
  pose proof (nth_error_In _ _ Ho) as Ino.
  apply Qmult_le_l'; [apply frac_nonneg; [pose proof (outcome_pos _ _ F T A o InT InA Ino); lia|apply F]|].
  now apply (Hv t T a A k o).
Qed.

Lemma mean_plus p take r v q w :
  mean p take r (fun t a k g => v t a k g + q * w t a k g)
  == mean p take r v + q * mean p take (fun _ => 0) w.
Proof.
  unfold mean. rewrite <- isum_scale, <- isum_plus.
  apply isum_eq; intros t T _; cbn [Nat.add].
  setoid_replace (q * (frac (weight T) (total_weight p) * isum (fun a A => take t a A *
      (0 + isum (fun k o => frac (fst o) (lot p) * w t a k (snd o)) 0 (outcomes A))) 0 (actions T)))
    with (frac (weight T) (total_weight p) * (q * isum (fun a A => take t a A *
      (0 + isum (fun k o => frac (fst o) (lot p) * w t a k (snd o)) 0 (outcomes A))) 0 (actions T)))
    by ring.
  rewrite <- Qmult_plus_distr_r. apply Qmult_comp; [reflexivity|].
  rewrite <- isum_scale, <- isum_plus.
  apply isum_eq; intros a A _; cbn [Nat.add].
  setoid_replace (q * (take t a A * (0 + isum (fun k o => frac (fst o) (lot p) * w t a k (snd o)) 0 (outcomes A))))
    with (take t a A * (q * isum (fun k o => frac (fst o) (lot p) * w t a k (snd o)) 0 (outcomes A))) by ring.
  rewrite <- Qmult_plus_distr_r. apply Qmult_comp; [reflexivity|].
  rewrite <- isum_scale, <- Qplus_assoc, <- isum_plus. apply Qplus_comp; [reflexivity|].
  apply isum_eq; intros k o _; cbn [Nat.add]. ring.
Qed.

(** Probabilities of actions that sum to one. *)
Definition fair (p : position) (take : nat -> nat -> action -> Q) : Prop :=
  forall t T, nth_error (throws p) t = Some T ->
    (forall a A, nth_error (actions T) a = Some A -> 0 <= take t a A)
    /\ isum (fun a A => take t a A) 0 (actions T) == 1.

Lemma fraction_sum c p T A r x (F : formed c p) (InT : In T (throws p)) (InA : In A (actions T)) (f : target -> Z) :
  x = (lot p * r + sum (fun o => fst o * f (snd o)) (outcomes A))%Z ->
  iz r + isum (fun _ o => frac (fst o) (lot p) * iz (f (snd o))) 0 (outcomes A) == frac x (lot p).
Proof.
  intros ->.
  rewrite (isum_eq _ (fun _ o => frac (fst o * f (snd o)) (lot p))).
  - rewrite (isum_frac (fun o => (fst o * f (snd o))%Z)) by apply F.
    unfold frac. rewrite iz_plus, iz_mult. field.
    intros E. pose proof (iz_lt 0 _ (lot_pos _ _ F)) as H. rewrite E in H. apply (Qlt_irrefl 0 H).
  - intros i o _. unfold frac. rewrite iz_mult. unfold Qdiv. ring.
Qed.

Lemma mean_one c p take : formed c p -> fair p take ->
  mean p take (fun _ => 0) (fun _ _ _ _ => 1) == 1.
Proof.
  intros F Fair. unfold mean.
  rewrite (isum_eq _ (fun _ T => frac (weight T) (total_weight p))).
  - rewrite isum_frac by apply F. apply frac_same. apply F.
  - intros t T HT; cbn [Nat.add]. pose proof (nth_error_In _ _ HT) as InT.
    rewrite (isum_eq _ (fun a A => take t a A)).
    + rewrite (proj2 (Fair t T HT)). ring.
    + intros a A HA; cbn [Nat.add]. pose proof (nth_error_In _ _ HA) as InA.
      rewrite (isum_eq _ (fun _ o => frac (fst o) (lot p))) by (intros; ring).
      rewrite isum_frac by apply F. rewrite (outcome_sum _ _ F T A InT InA).
      rewrite frac_same by apply F. ring.
Qed.

(** ** The checked inequalities, as means *)

Section Inequalities.

Variable c : certificate.
Variable p : position.
Hypothesis F : formed c p.

Let not_zero : forall z, (0 < z)%Z -> ~ iz z == 0.
Proof. intros z Hz E. pose proof (iz_lt 0 z Hz) as H. rewrite E in H. apply (Qlt_irrefl 0 H). Qed.

Definition by_claim (of : claims -> list Z) (j : nat) (t a k : nat) (g : target) : Q := iz (claim c of j g).
Definition paid (j : nat) (A : action) : Q := iz (in_row j (reward A)).

Lemma action_mean of j T A : In T (throws p) -> In A (actions T) ->
  paid j A + isum (fun _ o => frac (fst o) (lot p) * iz (claim c of j (snd o))) 0 (outcomes A)
  == frac (ahead c p of j A) (lot p).
Proof. intros InT InA. apply (fraction_sum c p T A); auto. Qed.

Lemma mean_ahead take of j :
  mean p take (paid j) (by_claim of j)
  == isum (fun t T => frac (weight T) (total_weight p) *
       isum (fun a A => take t a A * frac (ahead c p of j A) (lot p)) 0 (actions T)) 0 (throws p).
Proof.
  unfold mean. apply isum_eq; intros t T HT; cbn [Nat.add]. apply Qmult_comp; [reflexivity|].
  apply isum_eq; intros a A HA; cbn [Nat.add]. apply Qmult_comp; [reflexivity|].
  apply (action_mean of j T A); eapply nth_error_In; eassumption.
Qed.

(** The mean of whole numbers of the throws. *)
Lemma throws_mean (x : throw -> Z) :
  isum (fun _ T => frac (weight T) (total_weight p) * frac (x T) (mixed p * lot p)) 0 (throws p)
  == frac (sum (fun T => weight T * x T)%Z (throws p)) (scale p).
Proof.
  rewrite <- (isum_frac (fun T => (weight T * x T)%Z) (scale p) (throws p) 0).
  2: { unfold scale. pose proof (lot_pos _ _ F). pose proof (mixed_pos _ _ F). pose proof (total_pos _ _ F). nia. }
  apply isum_eq; intros t T _.
  unfold frac, scale. rewrite !iz_mult. field. repeat split; apply not_zero; apply F.
Qed.

Lemma table_mean take of j :
  (forall t T a A, nth_error (throws p) t = Some T -> nth_error (actions T) a = Some A ->
    take t a A == frac (share A) (mixed p)) ->
  mean p take (paid j) (by_claim of j)
  == frac (sum (fun T => weight T * by_table c p of j T)%Z (throws p)) (scale p).
Proof.
  intros H. rewrite mean_ahead, <- (throws_mean (by_table c p of j)).
  apply isum_eq; intros t T HT; cbn [Nat.add]. apply Qmult_comp; [reflexivity|].
  unfold by_table.
  rewrite <- (isum_frac (fun A => (share A * ahead c p of j A)%Z) (mixed p * lot p) (actions T) 0).
  2: { pose proof (lot_pos _ _ F). pose proof (mixed_pos _ _ F). nia. }
  apply isum_eq; intros a A HA; cbn [Nat.add]. rewrite (H t T a A HT HA).
  unfold frac. rewrite !iz_mult. field. split; apply not_zero; apply F.
Qed.

Lemma deviation_mean take : fair p take ->
  mean p take (paid 0) (by_claim upper 0)
  <= frac (sum (fun T => weight T * by_deviation c p 0 T)%Z (throws p)) (scale p).
Proof.
  intros Fair. rewrite mean_ahead, <- (throws_mean (by_deviation c p 0)).
  apply isum_le; intros t T HT; cbn [Nat.add]. pose proof (nth_error_In _ _ HT) as InT.
  apply Qmult_le_l'; [apply frac_nonneg; [pose proof (weight_pos _ _ F T InT); lia|apply F]|].
  set (most := greatest (ahead c p upper 0) (actions T)).
  assert (E : frac (by_deviation c p 0 T) (mixed p * lot p) == frac most (lot p)).
  { unfold by_deviation, frac. fold most. rewrite !iz_mult. field. split; apply not_zero; apply F. }
  rewrite E. destruct (Fair t T HT) as [Hpos Hone].
  setoid_replace (frac most (lot p)) with (frac most (lot p) * isum (fun a A => take t a A) 0 (actions T))
    by (rewrite Hone; ring).
  rewrite <- isum_scale. apply isum_le; intros a A HA; cbn [Nat.add].
  rewrite (Qmult_comm (frac most (lot p))). apply Qmult_le_l'; [now apply Hpos|].
  unfold frac, Qdiv. apply Qmult_le_compat_r.
  - apply iz_le. apply greatest_le. eapply nth_error_In; eassumption.
  - apply Qinv_le_0_compat. apply (iz_le 0). pose proof (lot_pos _ _ F). lia.
Qed.

Lemma frac_below x y : (x <= scale p * y)%Z -> frac x (scale p) <= iz y.
Proof.
  intros H. unfold frac.
  assert (Hs : (0 < scale p)%Z).
  { unfold scale. pose proof (lot_pos _ _ F). pose proof (mixed_pos _ _ F). pose proof (total_pos _ _ F). nia. }
  apply Qle_shift_div_r; [apply (iz_lt 0 _ Hs)|]. rewrite Qmult_comm, <- iz_mult. apply iz_le. exact H.
Qed.

Lemma frac_above x y : (scale p * y <= x)%Z -> iz y <= frac x (scale p).
Proof.
  intros H. unfold frac.
  assert (Hs : (0 < scale p)%Z).
  { unfold scale. pose proof (lot_pos _ _ F). pose proof (mixed_pos _ _ F). pose proof (total_pos _ _ F). nia. }
  apply Qle_shift_div_l; [apply (iz_lt 0 _ Hs)|]. rewrite Qmult_comm, <- iz_mult. apply iz_le. exact H.
Qed.

Lemma in_row_small of j : (0 <= range c)%Z -> (forall x, In x of -> (Z.abs x <= range c)%Z) ->
  (- range c <= in_row j of <= range c)%Z.
Proof.
  intros Hr H. unfold in_row. destruct (nth_in_or_default j of 0%Z) as [Hin | ->]; [|lia].
  specialize (H _ Hin). lia.
Qed.

End Inequalities.

(** * The bounds *)

(** The checker's answer. *)
Definition accepted (c : certificate) : Prop := check c = None.

Lemma no_fault c : forall todo i, first_fault c todo i = None ->
  forall k, (i <= k < i + Z.of_nat todo)%Z -> good c k = true.
Proof.
  induction todo as [|todo IH]; intros i H k Hk; [lia|]. simpl in H.
  destruct (good c i) eqn:E; [|discriminate].
  destruct (Z.eq_dec k i) as [->|Hne]; [exact E|]. apply (IH (i + 1)%Z H). lia.
Qed.

Section Bounds.

Variable c : certificate.
Hypothesis ok : accepted c.

Definition inside (i : Z) : Prop := (0 <= i < size c)%Z.

Lemma header_facts : header_is_good c = true.
Proof. unfold accepted, check in ok. now destruct (header_is_good c). Qed.

Lemma header : (0 < players c)%nat /\ (0 < most c)%Z /\ (0 < height c)%Z /\ (0 <= range c)%Z.
Proof.
  pose proof header_facts as E. unfold header_is_good in E.
  rewrite !andb_true_iff, !Z.ltb_lt, Z.leb_le in E. destruct E as [[[[E1 E2] E3] E4] _].
  repeat split; try assumption. lia.
Qed.

Lemma endless_is_for_two : endless c <> None -> players c = 2%nat /\ zero_sum c = true.
Proof.
  intros H. pose proof header_facts as E. unfold header_is_good in E.
  destruct (endless c); [|contradiction]. rewrite !andb_true_iff, Nat.eqb_eq in E. tauto.
Qed.

Lemma all_good i : inside i -> good c i = true.
Proof.
  intros Hi. unfold accepted, check in ok.
  destruct (header_is_good c); [|discriminate].
  apply (no_fault c _ _ ok). unfold inside in Hi. lia.
Qed.

Lemma is_formed i : inside i -> formed c (get c i).
Proof.
  intros Hi. pose proof (all_good i Hi) as H. unfold good in H. rewrite !andb_true_iff in H.
  apply formed_of. apply H.
Qed.

Lemma is_modest i : inside i -> (forall d, 0 <= in_row d (ranks (claimed c i)) < height c)%Z /\
  forall x, In x (upper (claimed c i) ++ lower (claimed c i)) -> (Z.abs x <= range c)%Z.
Proof.
  intros Hi. pose proof (all_good i Hi) as H. unfold good in H. rewrite !andb_true_iff in H.
  apply modest_facts; [apply header|apply H].
Qed.

(** The checks of a position for a role. *)
Lemma is_good_for i j : inside i -> (j < players c)%nat -> bounded c (get c i) (claimed c i) j = true /\
  (quiet c j (claimed c i) = true \/ descends c (get c i) (claimed c i) j = true).
Proof.
  intros Hi Hj. pose proof (all_good i Hi) as H. unfold good in H. rewrite !andb_true_iff, forallb_forall in H.
  destruct H as [[_ H] _]. specialize (H j ltac:(apply in_seq; lia)).
  rewrite andb_true_iff, orb_true_iff in H. exact H.
Qed.

Lemma turn_below j k : (turn (players c) j k < players c)%nat.
Proof. unfold turn. apply Nat.mod_upper_bound. pose proof header. lia. Qed.

Lemma target_inside i T A o k to : inside i ->
  In T (throws (get c i)) -> In A (actions T) -> In o (outcomes A) -> snd o = Go k to -> inside to.
Proof.
  intros Hi HT HA Ho E. pose proof (outcome_known _ _ (is_formed i Hi) T A o HT HA Ho) as H.
  rewrite E in H. simpl in H. rewrite !andb_true_iff, Z.leb_le, Z.ltb_lt in H. unfold inside. lia.
Qed.

Lemma chance_fair s h d i : legal c s -> inside i -> fair (get c i) (chance c s h d i).
Proof.
  intros L Hi t T HT. pose proof (nth_error_In _ _ HT) as InT. pose proof (is_formed i Hi) as F.
  destruct d as [|d].
  - simpl. destruct (L h i t T Hi HT) as [Hpos Hone]. split; [intros; apply Hpos|exact Hone].
  - simpl. split.
    + intros a A HA. apply frac_nonneg; [|apply F].
      apply (share_nonneg _ _ F T A InT). eapply nth_error_In; eassumption.
    + rewrite isum_frac by apply F. rewrite (share_sum _ _ F T InT). apply frac_same. apply F.
Qed.

(** A step of the bound from above: role [j] deviates. *)
Lemma upper_step s h j i : legal c s -> inside i -> (j < players c)%nat ->
  mean (get c i) (chance c s h j i) (paid j) (by_claim c upper j) <= iz (in_row j (upper (claimed c i))).
Proof.
  intros L Hi Hj. pose proof (is_formed i Hi) as F.
  pose proof (proj1 (is_good_for i j Hi Hj)) as B. unfold bounded in B.
  rewrite andb_true_iff, Z.leb_le in B.
  eapply Qle_trans; [|apply (frac_below _ _ F _ _ (proj1 B))].
  destruct j as [|j].
  - apply (deviation_mean c _ F). now apply chance_fair.
  - rewrite (table_mean c _ F); [apply Qle_refl|]. intros. reflexivity.
Qed.

(** *** From above *)

Theorem deviation_bound s : legal c s -> forall n w h j i, inside i -> (j < players c)%nat ->
  gain c s w n h j j i <= iz (in_row j (upper (claimed c i))) + iz (range c) * lasting c s w n h j i.
Proof.
  intros L. induction n as [|n IH]; intros w h j i Hi Hj; pose proof (is_formed i Hi) as F.
  - simpl. pose proof (in_row_small c (upper (claimed c i)) j (proj2 (proj2 (proj2 header)))) as B.
    assert (H : (- range c <= in_row j (upper (claimed c i)))%Z).
    { apply B. intros x Hx. apply (is_modest i Hi). apply in_or_app. now left. }
    apply iz_le in H. rewrite iz_opp in H. lra.
  - cbn [gain lasting]. destruct (stops c w j i) eqn:Stop.
    { unfold stops, quiet in Stop. rewrite andb_true_iff in Stop. unfold at_stop.
      destruct (endless c) as [worth|]; [|destruct Stop; discriminate].
      rewrite Nat.eqb_refl. rewrite Z.leb_le in Stop. apply proj2, iz_le in Stop. lra. }
    eapply Qle_trans; [|apply Qplus_le_l; apply (upper_step s h j i L Hi Hj)].
    rewrite <- mean_plus.
    apply (mean_le c); [exact F| |].
    + intros t T HT a A HA. now apply (chance_fair s h j i L Hi t T HT).
    + intros t T a A k o HT HA Ho. unfold by_claim, claim.
      destruct (snd o) as [row|seats to] eqn:E; [lra|].
      apply IH; [|apply turn_below].
      apply (target_inside i T A o seats to Hi); try (eapply nth_error_In; eassumption). exact E.
Qed.

(** *** From below: all seats follow the table *)

Lemma table_chance h d i t a T A :
  nth_error (throws (get c i)) t = Some T -> nth_error (actions T) a = Some A ->
  chance c (table c) h d i t a A = frac (share A) (mixed (get c i)).
Proof. intros HT HA. destruct d; simpl; [|reflexivity]. unfold table. now rewrite HT, HA. Qed.

Lemma table_legal : legal c (table c).
Proof.
  intros h i t T Hi HT. pose proof (is_formed i Hi) as F. pose proof (nth_error_In _ _ HT) as InT.
  unfold table. rewrite HT. split.
  - intros a. destruct (nth_error (actions T) a) as [A|] eqn:HA; [|lra].
    apply frac_nonneg; [|apply F]. apply (share_nonneg _ _ F T A InT). eapply nth_error_In; eassumption.
  - rewrite (isum_eq _ (fun _ A => frac (share A) (mixed (get c i)))).
    + rewrite isum_frac by apply F. rewrite (share_sum _ _ F T InT). apply frac_same. apply F.
    + intros a A HA; cbn [Nat.add]. rewrite HA. reflexivity.
Qed.

Theorem table_bound : endless c = None -> forall n w h d j i, inside i -> (j < players c)%nat ->
  iz (in_row j (lower (claimed c i))) - iz (range c) * lasting c (table c) w n h d i <= gain c (table c) w n h d j i.
Proof.
  intros Ends. induction n as [|n IH]; intros w h d j i Hi Hj; pose proof (is_formed i Hi) as F.
  - simpl. pose proof (in_row_small c (lower (claimed c i)) j (proj2 (proj2 (proj2 header)))) as B.
    assert (H : (in_row j (lower (claimed c i)) <= range c)%Z).
    { apply B. intros x Hx. apply (is_modest i Hi). apply in_or_app. now right. }
    apply iz_le in H. lra.
  - cbn [gain lasting].
    replace (stops c w d i) with false by (unfold stops, quiet; rewrite Ends, andb_false_r; reflexivity).
    pose proof (proj1 (is_good_for i j Hi Hj)) as B. unfold bounded in B.
    rewrite Ends, andb_true_iff, !Z.leb_le in B.
    assert (step : iz (in_row j (lower (claimed c i)))
      <= mean (get c i) (chance c (table c) h d i) (paid j) (by_claim c lower j)).
    { rewrite (table_mean c _ F); [apply (frac_above _ _ F _ _ (proj2 B))|].
      intros t T a A HT HA. rewrite (table_chance h d i t a T A HT HA). reflexivity. }
    pose proof (mean_plus (get c i) (chance c (table c) h d i) (paid j)
      (fun t a k g => match g with
        | End row => iz (in_row j row)
        | Go seats to => gain c (table c) (pred w) n ((i, t, a, k) :: h) (turn (players c) d seats) (turn (players c) j seats) to
        end) (iz (range c))
      (fun t a k g => match g with
        | End _ => 0
        | Go seats to => lasting c (table c) (pred w) n ((i, t, a, k) :: h) (turn (players c) d seats) to
        end)) as P.
    fold (paid j).
    assert (H : mean (get c i) (chance c (table c) h d i) (paid j) (by_claim c lower j)
      <= mean (get c i) (chance c (table c) h d i) (paid j)
        (fun t a k g => match g with
          | End row => iz (in_row j row)
          | Go seats to => gain c (table c) (pred w) n ((i, t, a, k) :: h) (turn (players c) d seats) (turn (players c) j seats) to
          end + iz (range c) * match g with
          | End _ => 0
          | Go seats to => lasting c (table c) (pred w) n ((i, t, a, k) :: h) (turn (players c) d seats) to
          end)).
    { apply (mean_le c); [exact F| |].
      - intros t T HT a A HA. now apply (chance_fair (table c) h d i table_legal Hi t T HT).
      - intros t T a A k o HT HA Ho. unfold by_claim, claim.
        destruct (snd o) as [row|seats to] eqn:E; [lra|].
        assert (In1 : inside to).
        { apply (target_inside i T A o seats to Hi); try (eapply nth_error_In; eassumption). exact E. }
        specialize (IH (pred w) ((i, t, a, k) :: h) (turn (players c) d seats) (turn (players c) j seats) to In1
          (turn_below j seats)). lra. }
    unfold paid in *. lra.
Qed.

(** *** Play ends *)

Lemma isum_term {A} (f : nat -> A -> Q) l : forall k t x,
  (forall i y, nth_error l i = Some y -> 0 <= f (k + i)%nat y) ->
  nth_error l t = Some x -> f (k + t)%nat x <= isum f k l.
Proof.
  induction l as [|y l IH]; intros k t x H Ht; [destruct t; discriminate|].
  assert (Hrest : 0 <= isum f (S k) l).
  { apply isum_nonneg. intros i z Hi. replace (S k + i)%nat with (k + S i)%nat by lia. now apply H. }
  destruct t as [|t]; simpl in *.
  - inversion Ht; subst. rewrite Nat.add_0_r. lra.
  - assert (IHt : f (S k + t)%nat x <= isum f (S k) l).
    { apply IH; [|exact Ht]. intros i z Hi. replace (S k + i)%nat with (k + S i)%nat by lia. now apply H. }
    replace (k + S t)%nat with (S k + t)%nat by lia.
    pose proof (H 0%nat y eq_refl) as Hy. rewrite Nat.add_0_r in Hy. lra.
Qed.

Variable s : strategy.
Hypothesis s_legal : legal c s.

Lemma lasting_between : forall n w h d i, inside i -> 0 <= lasting c s w n h d i <= 1.
Proof.
  induction n as [|n IH]; intros w h d i Hi; [simpl; lra|].
  pose proof (is_formed i Hi) as F. pose proof (chance_fair s h d i s_legal Hi) as Fair.
  assert (Hv : forall t T a A k o, nth_error (throws (get c i)) t = Some T ->
    nth_error (actions T) a = Some A -> nth_error (outcomes A) k = Some o ->
    0 <= match snd o with
      | End _ => 0
      | Go seats to => lasting c s (pred w) n ((i, t, a, k) :: h) (turn (players c) d seats) to
      end <= 1).
  { intros t T a A k o HT HA Ho. destruct (snd o) as [row|seats to] eqn:E; [lra|].
    apply IH. apply (target_inside i T A o seats to Hi); try (eapply nth_error_In; eassumption). exact E. }
  cbn [lasting]. destruct (stops c w d i); [lra|]. split.
  - assert (Z0 : mean (get c i) (chance c s h d i) (fun _ => 0) (fun _ _ _ _ => 0)
      <= mean (get c i) (chance c s h d i) (fun _ => 0) (fun t a k g => match g with
        | End _ => 0
        | Go seats to => lasting c s (pred w) n ((i, t, a, k) :: h) (turn (players c) d seats) to
        end)).
    { apply (mean_le c); [exact F|intros t T HT a A HA; now apply (Fair t T HT)|].
      intros. now apply (Hv t T a A k o). }
    eapply Qle_trans; [|exact Z0]. unfold mean.
    apply isum_nonneg; intros t T HT; cbn [Nat.add].
    apply Qmult_le_0_compat.
    + apply frac_nonneg; [|apply F]. pose proof (weight_pos _ _ F T (nth_error_In _ _ HT)). lia.
    + apply isum_nonneg; intros a A HA; cbn [Nat.add].
      apply Qmult_le_0_compat; [now apply (Fair t T HT)|].
      assert (0 <= isum (fun k o => frac (fst o) (lot (get c i)) * 0) 0 (outcomes A)).
      { apply isum_nonneg. intros. lra. }
      lra.
  - rewrite <- (mean_one c _ _ F Fair).
    apply (mean_le c); [exact F|intros t T HT a A HA; now apply (Fair t T HT)|].
    intros. now apply (Hv t T a A k o).
Qed.

Lemma lasting_splits q m : (forall h d i, inside i -> (d < players c)%nat -> lasting c s 0 m h d i <= q) ->
  forall n w h d i, (w <= n)%nat -> inside i -> (d < players c)%nat ->
  lasting c s w (n + m) h d i <= q * lasting c s w n h d i.
Proof.
  intros Hq. induction n as [|n IH]; intros w h d i Hw Hi Hd.
  - replace w with 0%nat by lia. simpl. specialize (Hq h d i Hi Hd). lra.
  - pose proof (is_formed i Hi) as F. pose proof (chance_fair s h d i s_legal Hi) as Fair.
    cbn [lasting Nat.add]. destruct (stops c w d i); [lra|].
    pose proof (mean_plus (get c i) (chance c s h d i) (fun _ => 0) (fun _ _ _ _ => 0) q
      (fun t a k g => match g with
        | End _ => 0
        | Go seats to => lasting c s (pred w) n ((i, t, a, k) :: h) (turn (players c) d seats) to
        end)) as P.
    assert (Z0 : mean (get c i) (chance c s h d i) (fun _ => 0) (fun _ _ _ _ => 0) == 0).
    { unfold mean. apply Qle_antisym; [|apply isum_nonneg]; [|intros t T HT; cbn [Nat.add]].
      - assert (E : isum (fun t T => frac (weight T) (total_weight (get c i)) *
          isum (fun a A => chance c s h d i t a A * (0 + isum (fun k o => frac (fst o) (lot (get c i)) * 0) 0 (outcomes A)))
          0 (actions T)) 0 (throws (get c i)) == isum (fun _ _ => 0 * 0) 0 (throws (get c i))).
        { apply isum_eq. intros t T HT. cbn [Nat.add].
          rewrite (isum_eq _ (fun _ _ => 0 * 0)).
          - rewrite isum_scale. ring.
          - intros a A HA. rewrite (isum_eq _ (fun _ _ => 0 * 0)); [rewrite isum_scale; ring|intros; ring]. }
        rewrite E, isum_scale. lra.
      - apply Qmult_le_0_compat.
        + apply frac_nonneg; [|apply F]. pose proof (weight_pos _ _ F T (nth_error_In _ _ HT)). lia.
        + apply isum_nonneg; intros a A HA; cbn [Nat.add].
          apply Qmult_le_0_compat; [now apply (Fair t T HT)|].
          assert (0 <= isum (fun k o => frac (fst o) (lot (get c i)) * 0) 0 (outcomes A)).
          { apply isum_nonneg. intros. lra. }
          lra. }
    rewrite Z0 in P. rewrite Qplus_0_l in P. rewrite <- P.
    apply (mean_le c); [exact F|intros t T HT a A HA; now apply (Fair t T HT)|].
    intros t T a A k o HT HA Ho. destruct (snd o) as [row|seats to] eqn:E; [lra|].
    assert (In1 : inside to).
    { apply (target_inside i T A o seats to Hi); try (eapply nth_error_In; eassumption). exact E. }
    specialize (IH (pred w) ((i, t, a, k) :: h) (turn (players c) d seats) to ltac:(lia) In1 (turn_below d seats)). lra.
Qed.

Fixpoint power (q : Q) (k : nat) : Q := match k with O => 1 | S k => q * power q k end.

(** No less than this is the chance of any turn of events that the check of the ranks relies on. *)
Definition least : Q := / iz (most c).

Lemma least_between : 0 < least /\ least <= 1.
Proof.
  pose proof header as [_ [Hm _]]. unfold least. split.
  - apply Qinv_lt_0_compat. apply (iz_lt 0). exact Hm.
  - pose proof (iz_le 1 (most c) ltac:(lia)) as H1. pose proof (iz_lt 0 _ Hm) as H0.
    apply Qle_shift_inv_r; [exact H0|]. unfold iz in *. rewrite Qmult_1_l. exact H1.
Qed.

Lemma power_between k : 0 < power least k /\ power least k <= 1.
Proof.
  pose proof least_between as [H0 H1].
  induction k as [|k [IH0 IH1]]; simpl; [lra|]. split; nra.
Qed.

(** If some throw leaves, after each action, a share [e] of an outcome, the whole position does. *)
Lemma leaving p take w e T : formed c p -> fair p take -> 0 <= e -> In T (throws p) ->
  (forall t T a A k o, nth_error (throws p) t = Some T -> nth_error (actions T) a = Some A ->
    nth_error (outcomes A) k = Some o -> 0 <= w t a k (snd o)) ->
  (forall t a A, nth_error (throws p) t = Some T -> nth_error (actions T) a = Some A ->
    take t a A == 0 \/ exists k o, nth_error (outcomes A) k = Some o /\ e <= w t a k (snd o)) ->
  least * e <= mean p take (fun _ => 0) w.
Proof.
  intros F Fair He InT Hw Hsome.
  destruct (In_nth_error _ _ InT) as [t HT].
  unfold mean.
  assert (inner : forall t' T', nth_error (throws p) t' = Some T' ->
    forall a A, nth_error (actions T') a = Some A ->
    forall k o, nth_error (outcomes A) k = Some o -> 0 <= frac (fst o) (lot p) * w t' a k (snd o)).
  { intros t' T' HT' a A HA k o Ho. apply Qmult_le_0_compat; [|now apply (Hw t' T' a A k o)].
    apply frac_nonneg; [|apply F].
    pose proof (outcome_pos _ _ F T' A o (nth_error_In _ _ HT') (nth_error_In _ _ HA) (nth_error_In _ _ Ho)). lia. }
  eapply Qle_trans; [|apply (isum_term _ _ 0%nat t T); [|exact HT]].
  2: { intros t' T' HT'; cbn [Nat.add]. apply Qmult_le_0_compat.
    - apply frac_nonneg; [|apply F]. pose proof (weight_pos _ _ F T' (nth_error_In _ _ HT')). lia.
    - apply isum_nonneg; intros a A HA; cbn [Nat.add]. apply Qmult_le_0_compat; [now apply (Fair t' T' HT')|].
      rewrite Qplus_0_l. apply isum_nonneg. intros k o Ho. cbn [Nat.add]. now apply (inner t' T' HT' a A HA). }
  cbn [Nat.add]. destruct (Fair t T HT) as [Hpos Hone].
  assert (actions_leave : frac 1 (lot p) * e <= isum (fun a A => take t a A *
      (0 + isum (fun k o => frac (fst o) (lot p) * w t a k (snd o)) 0 (outcomes A))) 0 (actions T)).
  { setoid_replace (frac 1 (lot p) * e) with (frac 1 (lot p) * e * isum (fun a A => take t a A) 0 (actions T))
      by (rewrite Hone; ring).
    rewrite <- isum_scale. apply isum_le; intros a A HA; cbn [Nat.add].
    destruct (Hsome t a A HT HA) as [Never | [k [o [Ho Hk]]]]; [rewrite Never; lra|].
    rewrite (Qmult_comm (frac 1 (lot p) * e)). apply Qmult_le_l'; [now apply Hpos|].
    rewrite Qplus_0_l.
    eapply Qle_trans; [|apply (isum_term _ _ 0%nat k o); [|exact Ho]].
    - cbn [Nat.add].
      assert (H1 : frac 1 (lot p) <= frac (fst o) (lot p)).
      { unfold frac, Qdiv. apply Qmult_le_compat_r; [apply iz_le|].
        - pose proof (outcome_pos _ _ F T A o InT (nth_error_In _ _ HA) (nth_error_In _ _ Ho)). lia.
        - apply Qinv_le_0_compat. apply (iz_le 0). pose proof (lot_pos _ _ F). lia. }
      assert (H0 : 0 <= frac 1 (lot p)) by (apply frac_nonneg; [lia|apply F]).
      nra.
    - intros k' o' Ho'. cbn [Nat.add]. now apply (inner t T HT a A HA). }
  assert (Hweight : frac 1 (total_weight p) <= frac (weight T) (total_weight p)).
  { unfold frac, Qdiv. apply Qmult_le_compat_r; [apply iz_le|].
    - pose proof (weight_pos _ _ F T InT). lia.
    - apply Qinv_le_0_compat. apply (iz_le 0). pose proof (total_pos _ _ F). lia. }
  assert (Hleast : least <= frac 1 (total_weight p) * frac 1 (lot p)).
  { unfold least, frac.
    assert (E : iz 1 / iz (total_weight p) * (iz 1 / iz (lot p)) == / iz (lot p * total_weight p)).
    { rewrite iz_mult. unfold iz at 1 3. field. split; intros E.
      - pose proof (iz_lt 0 _ (total_pos _ _ F)) as H. rewrite E in H. apply (Qlt_irrefl 0 H).
      - pose proof (iz_lt 0 _ (lot_pos _ _ F)) as H. rewrite E in H. apply (Qlt_irrefl 0 H). }
    rewrite E.
    assert (Hprod : (0 < lot p * total_weight p)%Z).
    { pose proof (lot_pos _ _ F). pose proof (total_pos _ _ F). nia. }
    pose proof (iz_lt 0 _ Hprod) as P0. pose proof (iz_le _ _ (most_large _ _ F)) as P1.
    pose proof (iz_lt 0 _ (proj1 (proj2 header))) as P2.
    apply Qle_shift_inv_l; [exact P0|]. rewrite Qmult_comm.
    apply Qle_shift_div_r; [exact P2|]. rewrite Qmult_1_l. exact P1. }
  assert (H0 : 0 <= frac 1 (total_weight p)) by (apply frac_nonneg; [lia|apply F]).
  assert (H1 : 0 <= frac 1 (lot p)) by (apply frac_nonneg; [lia|apply F]).
  eapply Qle_trans; [apply (Qmult_le_compat_r _ _ e Hleast He)|].
  rewrite <- Qmult_assoc.
  eapply Qle_trans; [apply (Qmult_le_l' _ _ _ H0 actions_leave)|].
  apply Qmult_le_compat_r; [exact Hweight|].
  eapply Qle_trans; [|exact actions_leave]. now apply Qmult_le_0_compat.
Qed.

Lemma lasting_by_rank : forall m h d i, inside i -> (d < players c)%nat ->
  (in_row d (ranks (claimed c i)) < Z.of_nat m)%Z -> lasting c s 0 m h d i <= 1 - power least m.
Proof.
  induction m as [|m IH]; intros h d i Hi Hd Hr; pose proof (is_formed i Hi) as F.
  - pose proof (proj1 (is_modest i Hi) d). lia.
  - pose proof (chance_fair s h d i s_legal Hi) as Fair.
    cbn [lasting]. destruct (stops c 0 d i) eqn:Stop; [pose proof (power_between (S m)); lra|].
    destruct (proj2 (is_good_for i d Hi Hd)) as [Quiet | D].
    { unfold stops in Stop. rewrite Quiet in Stop. discriminate. }
    unfold descends in D. apply existsb_exists in D. destruct D as [T [InT D]].
    rewrite forallb_forall in D. cbn [pred].
    set (v := fun (t a k : nat) (g : target) => match g with
      | End _ => 0
      | Go seats to => lasting c s 0 m ((i, t, a, k) :: h) (turn (players c) d seats) to
      end).
    pose proof (mean_plus (get c i) (chance c s h d i) (fun _ => 0) (fun _ _ _ _ => 1) (-1) v) as P.
    rewrite (mean_one c _ _ F Fair) in P.
    assert (L : least * power least m <= mean (get c i) (chance c s h d i) (fun _ => 0)
      (fun t a k g => 1 + -1 * v t a k g)).
    { apply (leaving _ _ _ _ T F Fair); [pose proof (power_between m); lra|exact InT| |].
      - intros t T' a A k o HT HA Ho. unfold v. destruct (snd o) as [row|seats to] eqn:E; [lra|].
        assert (In1 : inside to).
        { apply (target_inside i T' A o seats to Hi); try (eapply nth_error_In; eassumption). exact E. }
        pose proof (lasting_between m 0 ((i, t, a, k) :: h) (turn (players c) d seats) to In1). lra.
      - intros t a A HT HA. specialize (D A (nth_error_In _ _ HA)). rewrite orb_true_iff in D.
        destruct D as [D | D].
        { left. rewrite andb_true_iff, Nat.ltb_lt, Z.eqb_eq in D. destruct D as [D0 D1].
          destruct d; [lia|]. simpl. rewrite D1. unfold frac, Qdiv. apply Qmult_0_l. }
        right. apply existsb_exists in D. destruct D as [o [Ino Do]].
        destruct (In_nth_error _ _ Ino) as [k Ho]. exists k, o. split; [exact Ho|].
        unfold v. destruct (snd o) as [row|seats to] eqn:E.
        + pose proof (power_between m). lra.
        + rewrite Z.ltb_lt in Do.
          assert (In1 : inside to).
          { apply (target_inside i T A o seats to Hi InT (nth_error_In _ _ HA) Ino E). }
          assert (Hrank : (in_row (turn (players c) d seats) (ranks (claimed c to)) < Z.of_nat m)%Z) by lia.
          specialize (IH ((i, t, a, k) :: h) _ to In1 (turn_below d seats) Hrank). lra. }
    change (mean (get c i) (chance c s h d i) (fun _ => 0) v <= 1 - least * power least m).
    lra.
Qed.

(** The number of moves in which play ends with a probability of at least [1 - still]. *)
Definition horizon : nat := Z.to_nat (height c).
Definition still : Q := 1 - power least horizon.

Lemma still_between : 0 <= still /\ still < 1.
Proof. unfold still. pose proof (power_between horizon). lra. Qed.

Theorem play_ends w n h d i : inside i -> (d < players c)%nat ->
  lasting c s w (w + n) h d i <= power still (n / horizon).
Proof.
  assert (Hh : (horizon <> 0)%nat).
  { unfold horizon. pose proof header as [_ [_ [H _]]]. lia. }
  assert (once : forall h d i, inside i -> (d < players c)%nat -> lasting c s 0 horizon h d i <= still).
  { intros h' d' i' Hi' Hd'. apply lasting_by_rank; [exact Hi'|exact Hd'|].
    unfold horizon. rewrite Z2Nat.id.
    - apply (is_modest i' Hi').
    - pose proof header. lia. }
  assert (all : forall k m h d i, inside i -> (d < players c)%nat ->
    lasting c s w (w + m + k * horizon) h d i <= power still k).
  { induction k as [|k IH]; intros m h' d' i' Hi' Hd'.
    - simpl. apply lasting_between. exact Hi'.
    - replace (w + m + S k * horizon)%nat with ((w + m + k * horizon) + horizon)%nat by lia.
      eapply Qle_trans; [apply (lasting_splits still horizon once _ w h' d' i'); [lia|exact Hi'|exact Hd']|].
      simpl. apply Qmult_le_l'; [apply still_between|]. now apply IH. }
  intros Hi Hd. rewrite (Nat.div_mod n horizon Hh) at 1.
  replace (w + (horizon * (n / horizon) + n mod horizon))%nat
    with (w + n mod horizon + n / horizon * horizon)%nat by lia.
  now apply all.
Qed.

End Bounds.

(** * The claim *)

(** What a deviation can bring. [s] is any strategy: it may depend on the history and be random.
    If play ends whatever the players do, no position is quiet, and [w] may be 0. *)
Theorem no_deviation_brings_more c s : accepted c -> legal c s ->
  forall w n h j i, inside c i -> (j < players c)%nat ->
  gain c s w (w + n) h j j i
  <= iz (in_row j (upper (claimed c i))) + iz (range c) * power (still c) (n / horizon c).
Proof.
  intros ok L w n h j i Hi Hj.
  pose proof (deviation_bound c ok s L (w + n) w h j i Hi Hj) as B.
  pose proof (play_ends c ok s L w n h j i Hi Hj) as E.
  pose proof (iz_le 0 _ (proj2 (proj2 (proj2 (header c ok))))) as R.
  pose proof (Qmult_le_l' _ _ _ R E). lra.
Qed.

(** What the table brings, if all follow it and play ends. *)
Theorem the_table_brings c : accepted c -> endless c = None ->
  forall n h j i, inside c i -> (j < players c)%nat ->
  iz (in_row j (lower (claimed c i))) - iz (range c) * power (still c) (n / horizon c)
  <= gain c (table c) 0 n h j j i.
Proof.
  intros ok Ends n h j i Hi Hj.
  pose proof (table_bound c ok Ends n 0 h j j i Hi Hj) as B.
  pose proof (play_ends c ok (table c) (table_legal c ok) 0 n h j i Hi Hj) as E.
  pose proof (iz_le 0 _ (proj2 (proj2 (proj2 (header c ok))))) as R.
  pose proof (Qmult_le_l' _ _ _ R E). simpl in *. lra.
Qed.

(** Any number of seats: no seat gains more than this by deviating from the table. *)
Theorem no_seat_gains c s : accepted c -> endless c = None -> legal c s ->
  forall n h j i, inside c i -> (j < players c)%nat ->
  gain c s 0 n h j j i - gain c (table c) 0 n h j j i
  <= iz (in_row j (upper (claimed c i))) - iz (in_row j (lower (claimed c i)))
     + 2 * iz (range c) * power (still c) (n / horizon c).
Proof.
  intros ok Ends L n h j i Hi Hj.
  pose proof (no_deviation_brings_more c s ok L 0 n h j i Hi Hj).
  pose proof (the_table_brings c ok Ends n h j i Hi Hj). simpl in *. lra.
Qed.

Lemma mean_opposite p take r r' v v' :
  (forall T A, In T (throws p) -> In A (actions T) -> r' A == - r A) ->
  (forall t T a A k o, nth_error (throws p) t = Some T -> nth_error (actions T) a = Some A ->
    nth_error (outcomes A) k = Some o -> v' t a k (snd o) == - v t a k (snd o)) ->
  mean p take r' v' == - mean p take r v.
Proof.
  intros Hr Hv. unfold mean.
  setoid_replace (- isum (fun t T => frac (weight T) (total_weight p) *
      isum (fun a A => take t a A *
        (r A + isum (fun k o => frac (fst o) (lot p) * v t a k (snd o)) 0 (outcomes A)))
        0 (actions T)) 0 (throws p))
    with (-1 * isum (fun t T => frac (weight T) (total_weight p) *
      isum (fun a A => take t a A *
        (r A + isum (fun k o => frac (fst o) (lot p) * v t a k (snd o)) 0 (outcomes A)))
        0 (actions T)) 0 (throws p)) by ring.
  rewrite <- isum_scale. apply isum_eq; intros t T HT; cbn [Nat.add].
  setoid_replace (-1 * (frac (weight T) (total_weight p) * isum (fun a A => take t a A *
        (r A + isum (fun k o => frac (fst o) (lot p) * v t a k (snd o)) 0 (outcomes A))) 0 (actions T)))
    with (frac (weight T) (total_weight p) * (-1 * isum (fun a A => take t a A *
        (r A + isum (fun k o => frac (fst o) (lot p) * v t a k (snd o)) 0 (outcomes A))) 0 (actions T))) by ring.
  apply Qmult_comp; [reflexivity|]. rewrite <- isum_scale. apply isum_eq; intros a A HA; cbn [Nat.add].
  rewrite (Hr T A (nth_error_In _ _ HT) (nth_error_In _ _ HA)).
  rewrite (isum_eq _ (fun k o => -1 * (frac (fst o) (lot p) * v t a k (snd o)))).
  - rewrite isum_scale. ring.
  - intros k o Ho; cbn [Nat.add]. rewrite (Hv t T a A k o HT HA Ho). ring.
Qed.

(** In a zero-sum game of two players one loses what the other gets. *)
Lemma gains_are_opposite c s : accepted c -> zero_sum c = true -> players c = 2%nat ->
  forall n w h d i, inside c i -> (d < 2)%nat -> gain c s w n h d 1 i == - gain c s w n h d 0 i.
Proof.
  intros ok Hz Hp. induction n as [|n IH]; intros w h d i Hi Hd; [simpl; ring|].
  pose proof (all_good c ok i Hi) as G. unfold good in G. rewrite Hz, !andb_true_iff in G.
  destruct G as [_ G]. unfold zero_sum_at in G. rewrite forallb_forall in G.
  assert (balance : forall row, balanced row = true -> iz (in_row 1 row) == - iz (in_row 0 row)).
  { intros row Hrow. unfold balanced in Hrow. rewrite Z.eqb_eq in Hrow.
    replace (in_row 1 row) with (- in_row 0 row)%Z by lia. apply iz_opp. }
  cbn [gain]. destruct (stops c w d i).
  { rewrite <- iz_opp. unfold at_stop. apply inject_Z_injective.
    destruct (endless c); [|reflexivity]. destruct d as [|[|d]]; simpl; lia. }
  apply mean_opposite.
  - intros T A HT HA. specialize (G T HT). rewrite forallb_forall in G. specialize (G A HA).
    rewrite andb_true_iff in G. apply balance. apply G.
  - intros t T a A k o HT HA Ho.
    pose proof (nth_error_In _ _ HT) as InT. pose proof (nth_error_In _ _ HA) as InA.
    pose proof (nth_error_In _ _ Ho) as Ino.
    specialize (G T InT). rewrite forallb_forall in G. specialize (G A InA).
    rewrite andb_true_iff, forallb_forall in G. destruct G as [_ G]. specialize (G o Ino).
    pose proof (outcome_known _ _ (is_formed c ok i Hi) T A o InT InA Ino) as K.
    destruct (snd o) as [row|seats to] eqn:E; [now apply balance|].
    assert (In1 : inside c to) by (apply (target_inside c ok i T A o seats to Hi InT InA Ino E)).
    unfold known in K. rewrite Hp, !andb_true_iff, Nat.ltb_lt in K.
    rewrite Hp. 
    assert (Two : (seats = 0 \/ seats = 1)%nat) by lia.
    assert (Below : (turn 2 d seats < 2)%nat) by (apply Nat.mod_upper_bound; lia).
    destruct Two as [-> | ->]; [apply (IH _ _ _ _ In1 Below)|].
    change (turn 2 1 1) with 0%nat. change (turn 2 0 1) with 1%nat. rewrite (IH _ _ _ _ In1 Below). ring.
Qed.

(** Two players, zero sum: by the table the mover gets at least this, against any opponent. *)
Theorem the_table_guarantees c s : accepted c -> zero_sum c = true -> players c = 2%nat -> legal c s ->
  forall w n h i, inside c i ->
  - iz (in_row 1 (upper (claimed c i))) - iz (range c) * power (still c) (n / horizon c)
  <= gain c s w (w + n) h 1 0 i.
Proof.
  intros ok Hz Hp L w n h i Hi.
  pose proof (gains_are_opposite c s ok Hz Hp (w + n) w h 1%nat i Hi ltac:(lia)) as O.
  assert (Hj : (1 < players c)%nat) by (rewrite Hp; lia).
  pose proof (no_deviation_brings_more c s ok L w n h 1%nat i Hi Hj) as B. lra.
Qed.

(** If play may be endless, this is the lower bound of the claim. *)
Theorem the_table_guarantees_its_claim c s : accepted c -> endless c <> None -> legal c s ->
  forall w n h i, inside c i ->
  iz (in_row 0 (lower (claimed c i))) - iz (range c) * power (still c) (n / horizon c) <= gain c s w (w + n) h 1 0 i.
Proof.
  intros ok He L w n h i Hi. destruct (endless_is_for_two c ok He) as [Hp Hz].
  assert (H0 : (0 < players c)%nat) by lia.
  pose proof (proj1 (is_good_for c ok i 0 Hi H0)) as B. unfold bounded in B.
  destruct (endless c); [|contradiction]. rewrite andb_true_iff, Z.eqb_eq in B.
  destruct B as [_ ->]. change (1 - 0)%nat with 1%nat. rewrite iz_opp.
  now apply the_table_guarantees.
Qed.

(** The remainder vanishes, at a speed that the certificate alone determines. *)
Lemma power_times q : 0 <= q -> q <= 1 -> forall k,
  0 <= power q k /\ power q k * (1 + inject_Z (Z.of_nat k) * (1 - q)) <= 1.
Proof.
  intros H0 H1. induction k as [|k [IH0 IH]]; cbn [power].
  { split; [lra|]. change (inject_Z (Z.of_nat 0)) with 0. lra. }
  rewrite Nat2Z.inj_succ, <- Z.add_1_r, inject_Z_plus.
  set (x := inject_Z (Z.of_nat k)) in *. set (y := power q k) in *.
  assert (y <= 1).
  { assert (0 <= x) by (unfold x; apply (iz_le 0 (Z.of_nat k)); lia). assert (0 <= x * (1 - q)) by (apply Qmult_le_0_compat; lra). nra. }
  assert (0 <= q * y) by nra. assert (q * y <= 1) by nra.
  split; [assumption|].
  setoid_replace (q * y * (1 + (x + 1) * (1 - q)))
    with (q * (y * (1 + x * (1 - q))) + q * y * (1 - q)) by ring.
  assert (q * (y * (1 + x * (1 - q))) <= q * 1) by (apply Qmult_le_l'; assumption).
  assert (q * y * (1 - q) <= 1 * (1 - q)) by (apply Qmult_le_compat_r; lra).
  lra.
Qed.

Theorem remainder_vanishes c : accepted c -> forall e, 0 < e ->
  exists most_moves, forall n, (most_moves <= n)%nat ->
    iz (range c) * power (still c) (n / horizon c) <= e.
Proof.
  intros ok e He.
  pose proof (still_between c ok) as [S0 S1]. pose proof (iz_le 0 _ (proj2 (proj2 (proj2 (header c ok))))) as R.
  set (r := iz (range c)) in *. set (gap := e * (1 - still c)).
  assert (Hgap : 0 < gap) by (unfold gap; apply Qmult_lt_0_compat; lra).
  destruct (Qarchimedean (r / gap)) as [k Hk].
  assert (Hh : (horizon c <> 0)%nat).
  { unfold horizon. pose proof (header c ok) as [_ [_ [H _]]]. lia. }
  exists (Pos.to_nat k * horizon c)%nat. intros n Hn.
  assert (Hdiv : (Pos.to_nat k <= n / horizon c)%nat) by (apply Nat.div_le_lower_bound; lia).
  set (m := (n / horizon c)%nat) in *.
  destruct (power_times (still c) S0 ltac:(lra) m) as [P0 P].
  set (x := inject_Z (Z.of_nat m)) in *.
  assert (Hx : r / gap <= x).
  { eapply Qle_trans; [apply Qlt_le_weak; exact Hk|].
    change (inject_Z (Zpos k) <= x). unfold x. rewrite <- Zle_Qle. lia. }
  assert (Hr : r <= x * gap).
  { rewrite <- (Qmult_div_r r gap); [|intros E; rewrite E in Hgap; apply (Qlt_irrefl 0 Hgap)].
    rewrite (Qmult_comm gap). apply Qmult_le_compat_r; lra. }
  eapply Qle_trans; [apply Qmult_le_compat_r; [exact Hr|exact P0]|].
  setoid_replace (x * gap * power (still c) m) with (e * (power (still c) m * (x * (1 - still c)))) by (unfold gap; ring).
  setoid_replace e with (e * 1) at 2 by ring. apply Qmult_le_l'; [lra|].
  setoid_replace (power (still c) m * (1 + x * (1 - still c)))
    with (power (still c) m + power (still c) m * (x * (1 - still c))) in P by ring.
  lra.
Qed.

Print Assumptions no_deviation_brings_more.
Print Assumptions no_seat_gains.
Print Assumptions the_table_guarantees.
Print Assumptions the_table_guarantees_its_claim.
Print Assumptions remainder_vanishes.
