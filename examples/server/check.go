package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/callwright/callwright/platform"
)

// checkEngines asks each configured engine a small thing and prints what it did. It reports whether all engines work.
func checkEngines(ctx context.Context, c platform.Config, out io.Writer) (bool, error) {
	reports, err := platform.CheckEngines(ctx, c)
	if err != nil {
		return false, err
	}
	works := true
	for _, r := range reports {
		verdict := "works"
		if r.Problem != "" {
			verdict, works = "FAILS: "+r.Problem, false
		}
		fmt.Fprintf(out, "%s (%s): %s\n", r.Part, r.By, verdict)
		if r.First > 0 {
			fmt.Fprintf(out, "  first result after %s\n", r.First.Round(time.Millisecond))
		}
		for _, fact := range r.Facts {
			fmt.Fprintf(out, "  %s\n", fact)
		}
		if r.Advice != "" {
			fmt.Fprintf(out, "  to do: %s\n", r.Advice)
		}
	}
	return works, nil
}
