package price_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/llm/price"
)

func table(t *testing.T, models string) price.Table {
	t.Helper()
	parsed, err := price.Parse(strings.NewReader(`{"date":"2026-01-02","source":"a test","currency":"USD","models":` + models + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func TestCost(t *testing.T) {
	t.Parallel()
	prices := table(t, `{"a":{"input":"0.15","cached":"0.075","output":0.6},"b":{"input":"3","output":"15"},"free":{"input":0,"output":"0"},"a-2024-08-06":{"input":"1","output":"1"}}`)
	for _, tt := range []struct {
		model string
		usage llm.Usage
		want  string
		known bool
	}{
		{"a", llm.Usage{Input: 1_000_000, Output: 1_000_000}, "0.75", true},
		{"a", llm.Usage{Input: 1_000_000, Cached: 1_000_000}, "0.075", true},
		{"a", llm.Usage{Input: 1}, "0.00000015", true},
		{"a", llm.Usage{Input: 3, Cached: 1, Output: 1}, "0.000000975", true},
		{"a", llm.Usage{Input: 2, Cached: 5}, "0.00000015", true}, // no more than the input can be cached
		{"b", llm.Usage{Input: 10, Cached: 10}, "0.00003", true},  // no price of cached input
		{"free", llm.Usage{Input: 10, Output: 10}, "0", true},
		{"a-2024-08-06", llm.Usage{Input: 1_000_000}, "1", true},
		{"a-2025-01-31", llm.Usage{Input: 1_000_000}, "0.15", true},
		{"b-20250131", llm.Usage{Input: 1_000_000}, "3", true},
		{"a-mini", llm.Usage{Input: 1}, "0", false},
		{"", llm.Usage{Input: 1}, "0", false},
	} {
		if got, known := prices.Cost(tt.model, tt.usage); got.String() != tt.want || known != tt.known {
			t.Errorf("%s, %+v: %s, %t; want %s, %t", tt.model, tt.usage, got, known, tt.want, tt.known)
		}
	}
	if _, known := (price.Table{}).Cost("a", llm.Usage{Input: 1}); known {
		t.Error("an empty table has a price")
	}
}

// TestCostIsExact checks that costs have no rounding error of floating point, and grow with the usage.
func TestCostIsExact(t *testing.T) {
	t.Parallel()
	prices := table(t, `{"a":{"input":"1000","cached":"0.000000001","output":"999.999999999"}}`)
	rapid.Check(t, func(t *rapid.T) {
		u := llm.Usage{Input: rapid.IntRange(0, 1_000_000).Draw(t, "input"), Output: rapid.IntRange(0, 1_000_000).Draw(t, "output")}
		got, _ := prices.Cost("a", u)
		want := (int64(u.Input)*1_000_000_000_000 + int64(u.Output)*999_999_999_999 + 500_000) / 1_000_000
		if int64(got) != want {
			t.Fatalf("%+v costs %d, want %d", u, got, want)
		}
	})
	if got, known := prices.Cost("a", llm.Usage{Input: 1 << 62, Output: 1 << 62}); got <= 0 || !known {
		t.Errorf("a huge usage costs %s, %t", got, known)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for models, want := range map[string]string{
		`{"a":{"input":"x","output":"1"}}`:                                "decimal number",
		`{"a":{"input":"-1","output":"1"}}`:                               "decimal number",
		`{"a":{"input":"1e3","output":"1"}}`:                              "decimal number",
		`{"a":{"input":"0.1234567890","output":"1"}}`:                     "decimal number",
		`{"a":{"input":"1000.1","output":"1"}}`:                           "at most 1000",
		`{"a":{"output":"1"}}`:                                            `"a" must have a price`,
		`{"a":{"input":"1","output":"1","batch":"1"}}`:                    "unknown field",
		`{"a":{"input":"1","output":"1"}},"currency":"EUR"`:               "must be USD",
		`{"a":{"input":"1","output":"1"},"a":{"input":"2","output":"2"}}`: `"a" must not be blank or occur twice`,
		`{" ":{"input":"1","output":"1"}}`:                                "must not be blank",
		`[]`:                                                              "must be an object",
		`{},"date":"banana"`:                                              "form 2006-01-02",
		`{}}{"models":{}`:                                                 "nothing may follow",
	} {
		_, err := price.Parse(strings.NewReader(`{"currency":"USD","models":` + models + `}`))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", models, err, want)
		}
	}
}

// TestDefault checks that the built-in table states its date and its source, and has the prices of known models.
func TestDefault(t *testing.T) {
	t.Parallel()
	prices := price.Default()
	if _, err := time.Parse(time.DateOnly, prices.Date); err != nil || prices.Source == "" {
		t.Errorf("date %q, source %q", prices.Date, prices.Source)
	}
	if got, known := prices.Cost("gpt-4o-mini", llm.Usage{Input: 1_000_000, Output: 1_000_000}); got.String() != "0.75" || !known {
		t.Errorf("gpt-4o-mini costs %s, %t", got, known)
	}
	for name, rates := range prices.Models {
		if rates.Cached != nil && *rates.Cached > *rates.Input || *rates.Input > *rates.Output {
			t.Errorf("%s: cached input costs more than input, or input more than output", name)
		}
	}
}

func TestMoney(t *testing.T) {
	t.Parallel()
	for amount, want := range map[float64]price.Money{0: 0, 1: 1e9, 0.15e-6: 150, 1e-10: 0, 1e9: 1e18} {
		if got, ok := price.MoneyOf(amount); !ok || got != want || math.Abs(got.Amount()-amount) > 1e-9 {
			t.Errorf("%g is %d, %v", amount, got, ok)
		}
	}
	for _, amount := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1), 1.1e9} {
		if got, ok := price.MoneyOf(amount); ok {
			t.Errorf("%g is %d", amount, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"currency":"USD","models":{"a":{"input":"1","output":0.5}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := price.Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		for name := range parsed.Models {
			if cost, known := parsed.Cost(name, llm.Usage{Input: 1 << 40, Output: 1 << 40}); !known || cost < 0 {
				t.Errorf("%q: %s, %t", name, cost, known)
			}
		}
	})
}
