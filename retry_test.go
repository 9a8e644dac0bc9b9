package callwright_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/callwright/callwright"
)

func TestRetry(t *testing.T) {
	t.Parallel()
	other := errors.New("another error")
	wrapped := fmt.Errorf("save: %w", callwright.Errorf(callwright.CodeConflict, "somebody was quicker"))
	for name, tt := range map[string]struct {
		errs  []error // results of the calls, in order; the last one repeats
		calls int
		want  error
	}{
		"success":               {[]error{nil}, 1, nil},
		"another error":         {[]error{other}, 1, other},
		"success after two":     {[]error{wrapped, callwright.ErrConflict, nil}, 3, nil},
		"other error after one": {[]error{wrapped, other}, 2, other},
		"conflicts for ever":    {[]error{wrapped}, 8, wrapped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began, calls := time.Now(), 0
				err := callwright.Retry(t.Context(), func(context.Context) error {
					calls++
					return tt.errs[min(calls, len(tt.errs))-1]
				})
				if calls != tt.calls || !errors.Is(err, tt.want) {
					t.Errorf("%d calls, %v; want %d, %v", calls, err, tt.calls, tt.want)
				}
				if took := time.Since(began); took > 256*time.Millisecond {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

func TestRetryEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		err := callwright.Retry(ctx, func(context.Context) error {
			calls++
			cancel()
			return callwright.ErrConflict
		})
		if calls != 1 || !errors.Is(err, callwright.ErrConflict) {
			t.Errorf("%d calls, %v", calls, err)
		}
	})
}
