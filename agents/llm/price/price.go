// Package price computes what requests to language models cost, from a table of prices. Amounts are decimal numbers without rounding errors
// of floating point.
package price

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	_ "embed"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
)

// Money is an amount in billionths of a US dollar.
type Money int64

// moneyUnit is one dollar.
const moneyUnit = 1e9

// Amount returns the amount in dollars.
func (m Money) Amount() float64 { return float64(m) / moneyUnit }

// String returns the amount in dollars, with as few digits as possible.
func (m Money) String() string { return strconv.FormatFloat(m.Amount(), 'f', -1, 64) }

// MoneyOf returns an amount in dollars as Money. It returns false if the amount is negative, not a number or larger than MaxAmount.
func MoneyOf(amount float64) (Money, bool) {
	if math.IsNaN(amount) || amount < 0 || amount > MaxAmount {
		return 0, false
	}
	return Money(math.Round(amount * moneyUnit)), true
}

// MaxAmount is the largest amount that MoneyOf accepts.
const MaxAmount = 1e9

// perTokens is the number of tokens that a Rate prices.
const perTokens = 1_000_000

// maxRate and maxTokens bound a Rate and the tokens of a usage, so that no product overflows.
const (
	maxRate   Money = 1000 * moneyUnit
	maxTokens       = 1_000_000_000_000
)

// Rate is the price of one million tokens, from 0 to 1000 dollars, with at most 9 digits after the point. Its JSON form is a decimal number,
// or a text that contains one.
type Rate Money

// decimal matches a decimal number of dollars.
var decimal = regexp.MustCompile(`^([0-9]{1,4})(?:\.([0-9]{1,9}))?$`)

// UnmarshalJSON implements json.Unmarshaler.
func (r *Rate) UnmarshalJSON(raw []byte) error {
	digits := decimal.FindStringSubmatch(strings.Trim(string(raw), `"`))
	if digits == nil {
		return errors.New("a price must be a decimal number of dollars from 0 to 1000, such as 0.15")
	}
	n, err := strconv.ParseInt(digits[1]+(digits[2] + "000000000")[:9], 10, 64)
	if err != nil || Money(n) > maxRate {
		return errors.New("a price must be at most 1000 dollars")
	}
	*r = Rate(n)
	return nil
}

// Rates are the prices of a model. A nil Rate is missing.
type Rates struct {
	Input  *Rate `json:"input"`
	Cached *Rate `json:"cached"` // of input that the service read from its cache; if missing, such input costs as much as other input
	Output *Rate `json:"output"`
}

// Table contains the prices of models by the names of the models.
type Table struct {
	Date   string `json:"date"`   // day of the prices, as 2006-01-02; empty if unknown
	Source string `json:"source"` // human-readable
	Models Models `json:"models"`
}

// Models are prices by the names of models.
type Models map[string]Rates

// UnmarshalJSON implements json.Unmarshaler. It returns an error for a name that is blank or occurs twice, for unknown members, and for a
// model without a price of input or output.
func (m *Models) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.New("models must be an object")
	}
	all := Models{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string)
		if _, twice := all[name]; twice || callwright.Blank(name) {
			return fmt.Errorf("the name of the model %q must not be blank or occur twice", name)
		}
		var rates Rates
		if err := d.Decode(&rates); err != nil {
			return fmt.Errorf("the model %q: %w", name, err)
		}
		if rates.Input == nil || rates.Output == nil {
			return fmt.Errorf("the model %q must have a price of input and of output", name)
		}
		all[name] = rates
	}
	*m = all
	return nil
}

// Parse reads a table in its JSON form: see Default. It returns an error for unknown members, for text after the table, for a date that is not
// one, for another currency than USD, and the errors of Models.
func Parse(r io.Reader) (Table, error) {
	var read struct {
		Table
		Currency string `json:"currency"`
	}
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&read); err != nil {
		return Table{}, fmt.Errorf("the table of prices is invalid: %w", err)
	}
	if read.Currency != "USD" {
		return Table{}, fmt.Errorf("the currency of the prices must be USD, not %q", read.Currency)
	}
	if _, err := time.Parse(time.DateOnly, read.Date); read.Date != "" && err != nil {
		return Table{}, fmt.Errorf("the date of the prices must have the form 2006-01-02, not %q", callwright.Clip(read.Date, 40))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Table{}, errors.New("nothing may follow the table of prices")
	}
	return read.Table, nil
}

//go:embed prices.json
var builtIn string

// Default returns the table that the program contains. Its Date and Source say how old the prices are, and where they come from.
func Default() Table {
	t, err := Parse(strings.NewReader(builtIn))
	if err != nil {
		panic(err) // impossible: a test parses the embedded file
	}
	return t
}

// day matches the date at the end of the name of a model's snapshot, such as gpt-4o-2024-08-06.
var day = regexp.MustCompile(`-20[0-9]{2}-?[01][0-9]-?[0-3][0-9]$`)

// Cost returns what a usage of a model costs. known is false if the table does not contain the model. A snapshot with a date in its name has
// the prices of the model's name without the date, unless the table contains the snapshot.
func (t Table) Cost(model string, u llm.Usage) (cost Money, known bool) {
	rates, known := t.Models[model]
	if !known {
		rates, known = t.Models[day.ReplaceAllString(model, "")]
	}
	if !known {
		return 0, false
	}
	cached := min(max(u.Cached, 0), u.Input)
	read := rates.Input
	if rates.Cached != nil {
		read = rates.Cached
	}
	return (of(u.Input-cached, rates.Input).plus(of(cached, read)).plus(of(u.Output, rates.Output))).rounded(), true
}

// amount is an exact amount: whole billionths of a dollar, and millionths of one.
type amount struct{ whole, rest int64 }

// of returns the price of tokens.
func of(tokens int, r *Rate) amount {
	n := int64(min(max(tokens, 0), maxTokens))
	rest := n % perTokens * int64(*r) // at most 1e6 * 1e12
	return amount{n/perTokens*int64(*r) + rest/perTokens, rest % perTokens}
}

func (a amount) plus(b amount) amount { return amount{a.whole + b.whole, a.rest + b.rest} }

// rounded returns the amount in billionths of a dollar, of which halves are rounded up.
func (a amount) rounded() Money { return Money(a.whole + (a.rest+perTokens/2)/perTokens) }
