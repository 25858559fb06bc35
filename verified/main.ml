(* Reads a certificate from standard input and asks the extracted checker about it.

   Only this file and Coq's extraction stand between the theorem and the file: it turns words into the
   records of [Checker.v]. Claims are read first. Positions are then read in order, one at a time. *)

module I = Z  (* Zarith's integers; the extracted checker has a module of the same name *)

open Checker

exception Unreadable of string

let size = 1 lsl 16
let buffer = Bytes.create size
let filled = ref 0
let at = ref 0
let line = ref 0

let next () =
  if !at = !filled then (filled := input stdin buffer 0 size; at := 0);
  if !filled = 0 then '\000' else (let c = Bytes.get buffer !at in incr at; c)

let word_buffer = Buffer.create 64
let ended = ref true  (* whether the last word was the last one of its line *)

let start_line () = if not !ended then raise (Unreadable "the line is too long"); ended := false; incr line

let read_until stops =
  if !ended then raise (Unreadable "the line is too short");
  Buffer.clear word_buffer;
  let rec more c =
    if c = '\000' then raise (Unreadable "it ends too early")
    else if c = '\n' then ended := true
    else if c <> stops then (Buffer.add_char word_buffer c; more (next ())) in
  more (next ());
  Buffer.contents word_buffer

(* The next word of the line. Words are separated by one space. *)
let word () = read_until ' '

let rest_of_line () = read_until '\n'

let is_number text =
  let first = if text <> "" && text.[0] = '-' then 1 else 0 in
  let rec all k = k = String.length text || (text.[k] >= '0' && text.[k] <= '9' && all (k + 1)) in
  let size = String.length text in
  size > first && size <= 100_000 && all first

let number text =
  if is_number text then I.of_string text
  else raise (Unreadable ("a whole number is expected instead of " ^ text))

let integer () = number (word ())

let small most =
  let z = integer () in
  if I.sign z < 0 || I.gt z (I.of_int most) then
    raise (Unreadable ("the number " ^ I.to_string z ^ " is too large or too small"));
  I.to_int z

let expect text = if word () <> text then raise (Unreadable ("the word " ^ text ^ " is expected"))

let rec nat n = let rec up n k = if n = 0 then k else up (n - 1) (S k) in up n O
and times n f = if n = 0 then [] else let x = f () in x :: times (n - 1) f

let named name f = start_line (); expect name; f ()

let main () =
  start_line (); expect "rollwise-certificate"; expect "1";
  let game = named "game" rest_of_line in
  let players = named "players" (fun () -> small 1000) in
  let zero_sum = named "zero-sum" (fun () -> match word () with
    | "yes" -> true | "no" -> false | _ -> raise (Unreadable "zero-sum is yes or no")) in
  if zero_sum && players <> 2 then raise (Unreadable "zero-sum is for two players");
  start_line ();
  let endless = match word () with
    | "unit" -> None
    | "endless" ->
      if not zero_sum then raise (Unreadable "endless is for two players and zero-sum");
      let worth = times 2 integer in
      start_line (); expect "unit"; Some worth
    | _ -> raise (Unreadable "the word unit is expected") in
  let unit = word () in
  let size = String.length unit in
  if size < 3 || String.sub unit 0 3 = "1/0" || String.sub unit 0 2 <> "1/" || unit.[2] = '-'
    || not (is_number (String.sub unit 2 (size - 2))) then
    raise (Unreadable "the unit is 1/N, with a whole number N from 1 on");
  let fields = List.length (String.split_on_char ' ' (named "fields" rest_of_line)) in
  let n = named "positions" (fun () -> small 2_000_000_000) in
  if n = 0 then raise (Unreadable "positions is at least 1");
  let most = named "most" integer in
  let height = named "height" integer in
  let range = named "range" integer in
  let rows = Array.of_list (named "rows" (fun () ->
    times (small 1_000_000) (fun () -> start_line (); times players integer))) in
  start_line (); expect "claims";
  let nobody = { upper = []; lower = []; ranks = [] } in
  (* grown as read: the announced number of positions reserves no memory *)
  let claims = ref (Array.make (min n 4096) nobody) in
  for i = 0 to n - 1 do
    if i = Array.length !claims then claims := Array.append !claims (Array.make (min i (n - i)) nobody);
    start_line ();
    let ranks = match endless with
      | None -> let rank = integer () in times players (fun () -> rank)
      | Some _ -> times 2 integer in
    let lower = times players integer in
    let upper = times players integer in
    (match word () with
     | "=" -> ignore (times fields integer)
     | "-" -> ()
     | _ -> raise (Unreadable "the numbers of the state are expected"));
    !claims.(i) <- { upper; lower; ranks }
  done;
  start_line (); expect "moves";
  let seats_of = Array.init players nat in
  let row () = let k = small (max_int / 2) in
    if k >= Array.length rows then raise (Unreadable "there is no such row") else rows.(k) in
  let outcome () =
    let weight = integer () in
    match word () with
    | "end" -> (weight, End (row ()))
    | seats ->
      let k = number seats in
      if I.sign k < 0 || I.geq k (I.of_int players) then
        raise (Unreadable "the turn can't advance by that");
      let k = I.to_int k in
      (weight, Go (seats_of.(k), integer ())) in
  let action () =
    let share = integer () in
    let reward = row () in
    let outcomes = let k = small 100_000_000 in times k outcome in
    { share; reward; outcomes } in
  let throw () =
    let weight = integer () in
    let actions = let k = small 100_000_000 in times k action in
    { weight; actions } in
  let read = ref I.zero in
  let get i =
    assert (I.equal i !read);  (* [first_fault] asks once for each, in order *)
    read := I.succ i;
    start_line ();
    let lot = integer () in
    let mixed = integer () in
    let throws = let k = small 100_000_000 in times k throw in
    { lot; mixed; throws } in
  let claimed i = !claims.(I.to_int i) in
  let certificate = { players = nat players; zero_sum; endless; size = I.of_int n; get; claimed; most; height; range } in
  match check certificate with
  | Some i when I.sign i < 0 -> Printf.printf "refused: the first lines are impossible\n"; 1
  | Some i -> Printf.printf "refused: the claim about position %s is not proved\n" (I.to_string i); 1
  | None ->
    start_line (); expect "sha256"; ignore (rest_of_line ());
    if !at < !filled || input stdin buffer 0 size > 0 then raise (Unreadable "it goes on after its end");
    Printf.printf "%s: proved\n  %d positions, %d player%s%s, in units of %s\n" game n players
      (if players = 1 then "" else "s") (if zero_sum then ", zero-sum" else "") unit;
    if n > 0 then begin
      let first = claimed I.zero in
      let show name numbers =
        Printf.printf "  position 0: no role gets %s than %s\n" name (String.concat ", " (List.map I.to_string numbers)) in
      show "less by the table" first.lower; show "more by a deviation" first.upper
    end;
    Printf.printf "  after n moves, up to %s (1 - (1/%s)^%s)^(n / %s)\n"
      (I.to_string range) (I.to_string most) (I.to_string height) (I.to_string height);
    0

let () =
  exit (try main () with
    | Unreadable why -> Printf.printf "refused: line %d: %s\n" !line why; 1
    | Out_of_memory | Stack_overflow -> Printf.printf "refused: line %d: too large\n" !line; 1)
