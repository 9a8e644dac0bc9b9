package callwright

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// Keyset is a place in a list that is ordered by time and then by id. A page starts after it, so rows inserted
// meanwhile neither repeat nor hide others.
type Keyset struct {
	At time.Time
	ID string
}

// IsZero says that the keyset is the beginning of the list.
func (k Keyset) IsZero() bool { return k.ID == "" && k.At.IsZero() }

// Cursor is the keyset as an opaque string; the beginning is the empty one.
func (k Keyset) Cursor() string {
	if k.IsZero() {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(k.At.UnixMicro(), 36) + "." + k.ID))
}

// ParseCursor reads what Cursor wrote.
func ParseCursor(s string) (Keyset, error) {
	if s == "" {
		return Keyset{}, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	at, id, ok := strings.Cut(string(raw), ".")
	micros, numErr := strconv.ParseInt(at, 36, 64)
	if err != nil || numErr != nil || !ok || id == "" {
		return Keyset{}, Invalid("cursor", "is not a cursor that this service gave out")
	}
	return Keyset{At: time.UnixMicro(micros).UTC(), ID: id}, nil
}

// Page is one page of a list. Next is the keyset of its last item, or zero at the end of the list.
type Page[T any] struct {
	Items []T
	Next  Keyset
}

// pageSize is how many items Collect asks for at once.
const pageSize = 500

// Collect returns the first items of a list, at most limit of them, which it reads page by page. It is for callers whose
// own interface shows no cursor. place returns where an item stands in the list.
func Collect[T any](
	limit int, page func(after Keyset, limit int) ([]T, error), place func(T) Keyset,
) (all []T, err error) {
	for after := (Keyset{}); len(all) < limit; {
		size := min(pageSize, limit-len(all))
		items, err := page(after, size)
		if err != nil {
			return nil, err
		}
		all = append(all, items...)
		if len(items) < size {
			break
		}
		after = place(items[len(items)-1])
	}
	return all[:min(limit, len(all))], nil
}
