package httpapi

import (
	"context"
	"time"

	"github.com/go-faster/jx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/transport/httpapi/wire"
	"github.com/callwright/callwright/transport/oas"
)

// What follows is for the areas that are in this package still.

func notBuilt(field string) *callwright.Error                { return wire.NotBuilt(field) }
func optional[T any](value T, given bool) *T                 { return wire.Ptr(value, given) }
func minutes(n float64) time.Duration                        { return wire.Minutes(n) }
func nilText(s string) oas.NilString                         { return wire.NilText(s) }
func optText(s string) oas.OptString                         { return wire.OptText(s) }
func optNilText(s string) oas.OptNilString                   { return wire.OptNilText(s) }
func nilInt(n int) oas.NilInt                                { return wire.NilInt(n) }
func nilNumber(n *float64) oas.NilFloat64                    { return wire.NilPtr(n) }
func nilTime(t *time.Time) oas.NilDateTime                   { return wire.NilPtr(t) }
func rawOf(values map[string]any) (map[string]jx.Raw, error) { return wire.Raw(values) }
func orgOf(ctx context.Context) callwright.OrgID             { return Org(ctx) }

func valuesOf[M ~map[string]jx.Raw](raw M) (map[string]any, error) { return wire.Values(raw) }
func itemsAs[To, From ~[]byte](items []From) []To                  { return wire.Items[To](items) }

// millis is a duration in milliseconds; null for none.
func millis(d time.Duration) oas.NilFloat64 { return wire.Millis(wire.Ptr(d, d != 0)) }

// numberInQuery is a number to search for: E.164 where it is, and as it was given where it is not.
func numberInQuery(given oas.OptString) string {
	number, err := callwright.ParsePhoneNumber(given.Value)
	if err != nil {
		return given.Value
	}
	return number.String()
}
