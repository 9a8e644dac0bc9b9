package agents

import (
	"context"
	"time"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/call"
)

// InboundNumber is a number at which the platform is called, and the agent that answers there.
type InboundNumber struct {
	Org       callwright.OrgID
	Number    callwright.PhoneNumber
	Agent     call.Agent
	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64
}

// Store keeps the agents of inbound numbers. Another organization's number is absent.
type Store interface {
	// InsertNumber adds a number with Version 1; CodeConflict when the organization has it already.
	InsertNumber(ctx context.Context, n InboundNumber) error
	// Number is one number; CodeNotFound when it is absent.
	Number(ctx context.Context, org callwright.OrgID, number callwright.PhoneNumber) (InboundNumber, error)
	// Numbers is all of an organization's, by number.
	Numbers(ctx context.Context, org callwright.OrgID) ([]InboundNumber, error)
	// UpdateNumber replaces a number whose stored Version is n.Version and adds one to it; CodeConflict when somebody
	// else was first; CodeNotFound when it is absent.
	UpdateNumber(ctx context.Context, n InboundNumber) error
}
