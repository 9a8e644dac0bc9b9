package cli

import (
	"fmt"
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/porting"
)

// checkText checks that an operator's text has at most porting.MaxRaw bytes and no control or format characters.
func checkText(flag, text string) error {
	switch {
	case len(text) > porting.MaxRaw:
		return fmt.Errorf("%s must have at most %d bytes", flag, porting.MaxRaw)
	case strings.ContainsFunc(text, callwright.Hidden):
		return fmt.Errorf("%s must not have control or format characters", flag)
	}
	return nil
}
