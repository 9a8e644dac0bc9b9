package triage

import (
	"context"

	"github.com/callwright/callwright"
)

// sweep ends the sessions of which nothing is heard any more.
func (s *Service) sweep(context.Context, callwright.Task, int) error { return nil }
