package callwright

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"
)

// Keyset is a position in a list that is ordered by time and then by id. A page starts after a keyset, so the insertion of rows between two
// pages neither repeats nor hides other rows.
type Keyset struct {
	At time.Time
	ID string
}

// IsZero reports whether the keyset is the beginning of the list.
func (k Keyset) IsZero() bool { return k.ID == "" && k.At.IsZero() }

// Cursor returns the keyset as an opaque string, or the empty string for the beginning of the list.
func (k Keyset) Cursor() string {
	if k.IsZero() {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(k.At.UnixMicro(), 36) + "." + k.ID))
}

// ParseCursor parses a cursor of Keyset.Cursor. It returns CodeBadRequest for any other text.
func ParseCursor(s string) (Keyset, error) {
	if s == "" {
		return Keyset{}, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(s)
	at, id, ok := strings.Cut(string(raw), ".")
	micros, numErr := strconv.ParseInt(at, 36, 64)
	if err != nil || numErr != nil || !ok || id == "" {
		return Keyset{}, Invalid("cursor", "must be a cursor that this service returned")
	}
	return Keyset{At: time.UnixMicro(micros).UTC(), ID: id}, nil
}

// Page is one page of a list. Next is the keyset of the last item, or zero at the end of the list.
type Page[T any] struct {
	Items []T
	Next  Keyset
}

// Fit returns the first page of a list: at most limit items and at most the given number of bytes (most), but at least one item unless the
// list is empty. If the list is longer, items must contain at least one item more than fits. size returns the size of an item in bytes, and
// place its keyset.
func Fit[T any](items []T, limit, most int, size func(T) int, place func(T) Keyset) Page[T] {
	bytes := 0
	for n, item := range items {
		if bytes += size(item); n == limit || n > 0 && bytes > most {
			return Page[T]{Items: items[:n], Next: place(items[n-1])}
		}
	}
	return Page[T]{Items: items}
}

// pageSize is the maximum size of the pages that Collect reads.
const pageSize = 500

// Collect reads a list page by page and returns its first limit items. It serves callers whose interface lacks cursors. place returns the
// keyset of an item.
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
