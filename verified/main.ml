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
let line = ref 1

let next () =
  if !at = !filled then (filled := input stdin buffer 0 size; at := 0);
  if !filled = 0 then '\000' else (let c = Bytes.get buffer !at in incr at; c)

let word_buffer = Buffer.create 64

(* The next word; lines are counted, for messages. *)
let rec word () =
  match next () with
  | '\000' -> raise (Unreadable "it ends too early")
  | '\n' -> incr line; word ()
  | ' ' -> word ()
  | first ->
    Buffer.clear word_buffer;
    let rec more c =
      if c = ' ' || c = '\n' || c = '\000' then (if c = '\n' then decr at)
      else (Buffer.add_char word_buffer c; more (next ())) in
    more first;
    Buffer.contents word_buffer

let rest_of_line () =
  Buffer.clear word_buffer;
  let rec more c =
    if c = '\000' then raise (Unreadable "it ends too early")
    else if c <> '\n' then (Buffer.add_char word_buffer c; more (next ())) in
  more (next ());
  incr line;
  String.trim (Buffer.contents word_buffer)

let integer () =
  let text = word () in
  try I.of_string text with _ -> raise (Unreadable ("a whole number is expected instead of " ^ text))

let small most =
  let z = integer () in
  if I.sign z < 0 || I.gt z (I.of_int most) then
    raise (Unreadable ("the number " ^ I.to_string z ^ " is too large or too small"));
  I.to_int z

let expect text = if word () <> text then raise (Unreadable ("the word " ^ text ^ " is expected"))

let rec nat n = let rec up n k = if n = 0 then k else up (n - 1) (S k) in up n O
and times n f = if n = 0 then [] else let x = f () in x :: times (n - 1) f

let named name f = expect name; f ()

let main () =
  expect "rollwise-certificate"; expect "1";
  let game = named "game" rest_of_line in
  let players = named "players" (fun () -> small 1000) in
  let zero_sum = named "zero-sum" (fun () -> match word () with
    | "yes" -> true | "no" -> false | _ -> raise (Unreadable "zero-sum is yes or no")) in
  let unit = named "unit" word in
  let _ = named "fields" rest_of_line in
  let n = named "positions" (fun () -> small 2_000_000_000) in
  let most = named "most" integer in
  let height = named "height" integer in
  let range = named "range" integer in
  let rows = Array.of_list (named "rows" (fun () -> times (small 1_000_000) (fun () -> times players integer))) in
  expect "claims";
  let nobody = { upper = []; lower = []; rank = I.zero } in
  (* grown as read: the announced number of positions reserves no memory *)
  let claims = ref (Array.make (min n 4096) nobody) in
  for i = 0 to n - 1 do
    if i = Array.length !claims then claims := Array.append !claims (Array.make (min i (n - i)) nobody);
    let rank = integer () in
    let lower = times players integer in
    let upper = times players integer in
    (match word () with
     | "=" -> ignore (rest_of_line ())
     | "-" -> ()
     | _ -> raise (Unreadable "the numbers of the state are expected"));
    !claims.(i) <- { upper; lower; rank }
  done;
  expect "moves";
  let seats_of = Array.init players nat in
  let row () = let k = small (max_int / 2) in
    if k >= Array.length rows then raise (Unreadable "there is no such row") else rows.(k) in
  let outcome () =
    let weight = integer () in
    match word () with
    | "end" -> (weight, End (row ()))
    | seats ->
      let k = try int_of_string seats with _ -> -1 in
      if k < 0 || k >= players then raise (Unreadable "the turn can't advance by that");
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
    let lot = integer () in
    let mixed = integer () in
    let throws = let k = small 100_000_000 in times k throw in
    { lot; mixed; throws } in
  let claimed i = !claims.(I.to_int i) in
  let certificate = { players = nat players; zero_sum; size = I.of_int n; get; claimed; most; height; range } in
  match check certificate with
  | Some i when I.sign i < 0 -> Printf.printf "refused: the first lines are impossible\n"; 1
  | Some i -> Printf.printf "refused: the claim about position %s is not proved\n" (I.to_string i); 1
  | None ->
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
