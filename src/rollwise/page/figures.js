// Values as people read them: chances in per cent, or points.

const MOST_DIGITS = 40; // behind the point

export class Figures {
  constructor(head) {
    this.isScore = head.is_score;
    this.unit = head.is_score ? head.worth_name : "chance to win";
    this.points = head.is_score ? "points" : "percentage points";
    this.scale = head.is_score ? 1 : 50;
    this.digits = head.is_score ? digitsOf(head.stake, 3) : 2;
    this.isCompared = head.average != null;
    this.sign = head.sign; // -1 where few points are good
    this.least = (10 ** -this.digits).toFixed(this.digits);
  }

  // A value.
  level(value) {
    return this.isScore ? signed(fixed(value, this.digits)) : `${fixed(100 * ((1 + value) / 2), 2)} %`;
  }

  // A difference of values, with its sign.
  change(value) {
    const text = fixed(this.scale * value, this.digits);
    return text.startsWith("-") ? signed(text) : `+${text}`;
  }

  // Luck: negative where bad, also where few points are good.
  gain(value) {
    return this.change(this.sign * value);
  }

  // The cost of a choice.
  cost(value) {
    const text = fixed(this.scale * value, this.digits);
    return value > 0 && Number(text) === 0 ? `<${this.least}` : text;
  }

  costText(value) {
    return `${this.cost(value)} ${this.points}`;
  }

  // Points of the rules, or their sum; those that are compared to an average are rounded as values.
  amount(value) {
    return plain(value, this.digits + (this.isCompared ? 0 : 3));
  }
}

// The digits behind the point of numbers of this size: those of 1, or three of a smaller stake.
export function digitsOf(stake, usual) {
  return stake > 0 ? Math.min(MOST_DIGITS, Math.max(usual, 2 - Math.floor(Math.log10(stake)))) : usual;
}

// A number with so many digits behind the point; 0 has no sign. What lies in the middle goes to the
// even digit, as in Python.
export function fixed(number, digits) {
  const exact = number.toFixed(Math.min(100, digits + 60));
  const cut = exact.indexOf(".") + 1 + digits;
  const isMiddle = /^50*$/.test(exact.slice(cut));
  const text = isMiddle && exact[cut - 1] % 2 === 0 ? exact.slice(0, cut) : number.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text;
}

// A number as people write it: without zeros behind the last digit.
export function plain(number, digits = 6) {
  return signed(fixed(number, digits).replace(/\.?0+$/, ""));
}

// A number as people write it: with a minus sign, not a hyphen.
export function signed(text) {
  return text.replace(/^-/, "−");
}
