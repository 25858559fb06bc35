// All that the page says of itself. What a game says comes with the game.

export const SAY = {
  play: "Play",
  strategy: "Strategy",
  rules: "Rules",
  sections: "Parts of this page",

  // the set-up
  newGame: "New game",
  begin: "Begin",
  seats: ["Moves first", "Moves second"],
  player: "Player",
  person: "a person",
  optimal: "optimal play",
  random: "random",
  dice: "Dice",
  diceFall: "fall by themselves",
  diceTyped: "are thrown by hand",
  coach: "Coach",
  coaches: {
    ask: "can be asked",
    mistakes: "warns of mistakes",
    always: "always speaks",
    off: "is silent until the end",
  },
  seed: "Seed",
  seedNote: "The same seed brings the same dice.",
  again: "Another game",

  // players
  you: "You",
  persons: ["Player 1", "Player 2"],
  first: "first",
  second: "second",

  // a position
  toMove: (who) => (who === "You" ? "Your move" : `${who} to move`),
  isOver: "The game is over",
  position: "Position",
  board: "Board",
  thrown: "thrown",
  beforeThrow: "before the throw",
  value: "Worth",

  // choosing
  choose: "What do you do?",
  chooses: "Choices",
  key: (key) => `key ${key}`,
  hint: "Ask the coach",
  undo: "Undo",
  undone: "Taken back.",
  choice: "choice",
  costs: (points) => `costs, in ${points}`,
  best: "best",
  nothingBetter: "Nothing is better.",
  mistake: (grade, cost, best) => `${grade ? `A ${grade} choice: it` : "It"} costs ${cost}. Better: ${best}.`,
  letStand: "Let it stand",
  takeBack: "Take it back",
  goOn: "Go on",

  // a server
  serverGone: "The server doesn't answer. Start it again with `rollwise serve`, then go on here.",
  notKept: "The server hasn't kept every game. Save these games here.",

  // the dice
  showDie: (number, of) => (of === 1 ? "The die shows" : `Die ${number} of ${of} shows`),
  showOutcome: "What came of it?",
  take: "Take this",
  ways: (ways, of) => `${ways} of ${of} ways`,
  die: (name) => `a die shows ${name}`,

  // what came
  plays: (name) => `play ${name}`,
  passes: "the turn passes",
  nothing: "nothing changes",
  wins: "wins",
  loses: "loses",
  draw: "a draw",
  end: "the end",
  gains: (points) => `gains ${points}`,
  pays: (points) => `pays ${points}`,
  soFarIs: (points) => `${points} so far`,

  // results
  youWin: "You win",
  youLose: "You lose",
  hasWon: (who) => `${who} wins`,
  drawn: "A draw",
  scored: (points) => `${points} points in all`,
  gained: (who, points) => `${who} gained ${points}`,

  // the books
  luckAndSkill: "Luck and skill",
  luckOf: (who) => `Dice of ${who}`,
  skillOf: (who) => `Choices of ${who}`,
  atStart: "At the start",
  now: "Now",
  atEnd: "Result",
  inEyes: (who, unit, points) => `In the eyes of ${who}: ${unit}, and ${points} more or less.`,
  fewGood: " Few are good.",
  decisions: (n, graded, mean, points) =>
    `${n} ${n === 1 ? "decision" : "decisions"}: ${graded || "none doubtful or worse"}; ${mean} ${points} a decision.`,
  moves: "Moves",
  who: "Who",
  did: "Did",
  came: "What came",
  lost: "Cost",
  luck: "Luck",
  noMoves: "No moves yet.",
  silent: "The coach is silent until the end.",

  // games so far
  gamesSoFar: (n) => (n === 1 ? "One game so far" : `${n} games so far`),
  wonDrewLost: "Won, drawn, lost",
  scoredMean: "Points a game",
  gainedMean: "Gained a game",
  withBestPlay: "With best play of all",
  lostAGame: (points) => `Lost by your choices a game, in ${points}`,
  lostADecision: (points) => `Lost a decision, in ${points}`,
  lostBy: (name) => `Beside it: what ${name} loses a game`,
  luckAGame: (points) => `Luck a game, in ${points}`,
  seriesNote: "Wins hold the luck of the dice. What the choices lose doesn't. ± is one standard error over the games.",
  saveGames: "Save these games",
  mistakes: "Where you lost most",
  noMistakes: "No mistakes.",
  practise: "Practise",
  tryAgain: "Try again",

  // the map
  map: "Map",
  across: "Across",
  down: "Down",
  field: (name) => name,
  throwField: "thrown",
  mapLabel: (x, y) => `Best choices, ${x} across and ${y} down. Arrow keys move to another position.`,
  legend: "Best choice",
  severalBest: "several are best",
  noPosition: "No play comes to this position.",
  noChoice: "no choice",
  other: "other",
  fromGame: "Position of the game",
  playFrom: "Play on from here",
  advice: "What each choice is worth here",
  afterThrow: "What to do after each throw",
  throw: "throw",
  chance: "chance",
  sheet: "Cheat sheet",
  sheetNote: (x, y, rest) => `What to do, by ${y} and ${x}${rest ? `, where ${rest}` : ""}. This is the map in words.`,
  sheetCut: (n) => `Only the first ${n} rows are shown.`,
  easier: "Easier to remember",
  name: "name",
  rule: "what to do",
  losesAGame: (points) => `loses a game, in ${points}`,
  onlyOne: "There is one position only.",

  // rules
  aims: {
    two: "A game for two players, who move in turns.",
    stakes: "A game for two players, who move in turns, for more than to win.",
    one: "A game for one player, which is won or lost.",
    maximize: "A game for one player; the most points are best.",
    minimize: "A game for one player; the fewest points are best.",
  },
  parameters: "This game",
  policies: "Ways to play",
  sure: "How sure the numbers are",
  certified: (bound, points, least) =>
    `Every number was proved to be within ± ${bound} ${points}, and is shown rounded to ${least}.`,
  fair: "The dice of this page come from the seed. They don't look at the game.",
  keys: "Keys",
  keyList: [
    ["1 to 9", "take that choice"],
    ["h", "ask the coach"],
    ["u", "take your last choice back"],
    ["n", "set up a new game"],
  ],
  madeBy: (made) => `Made by ${made}. This page needs no network and sends nothing.`,
  tooOld: "This browser is too old for this page: it can't unpack it.",
};

export const listed = (texts) =>
  texts.length > 1 ? `${texts.slice(0, -1).join(", ")} and ${texts.at(-1)}` : texts.join("");
