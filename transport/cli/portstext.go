package cli

import (
	"fmt"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// checkText checks that an operator's text has at most porting.MaxRaw bytes and no hidden characters.
func checkText(flag, text string) error {
	switch {
	case len(text) > porting.MaxRaw:
		return fmt.Errorf("%s must have at most %d bytes, but has %d", flag, porting.MaxRaw, len(text))
	case strings.ContainsFunc(text, callwright.Hidden):
		return fmt.Errorf("%s must be one line without control characters or invisible characters", flag)
	}
	return nil
}
