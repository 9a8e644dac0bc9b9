package platform

import (
	"errors"

	"go.uber.org/fx"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/adapters/bunstore/sipstore"
	"github.com/callwright/callwright/sip/proof"
)

// The values of --number-proof.
const (
	proofNone = "none"
	proofCall = "call"
)

// checkNumberProof returns an error for an unknown value of --number-proof, for an invalid --number-proof-from, and for --number-proof-from
// without --number-proof call.
func (c *Config) checkNumberProof() error {
	if c.NumberProof != proofNone && c.NumberProof != proofCall {
		return errors.New("--number-proof must be none or call")
	}
	if c.NumberProofFrom == "" {
		return nil
	}
	if c.NumberProof == proofNone {
		return errors.New("--number-proof-from requires --number-proof call")
	}
	if n, err := callwright.ParsePhoneNumber(string(c.NumberProofFrom)); err != nil || n != c.NumberProofFrom {
		return errors.New("--number-proof-from must be a number in E.164, such as +14155550100")
	}
	return nil
}

// newNumberProofs returns the service that proves numbers by calls, in which the platform's speech engine speaks. Without --number-proof
// call, no number requires a proof.
func newNumberProofs(lc fx.Lifecycle, c Config, s secrets, p testCallParts) (*proof.Service, error) {
	proofs, err := proof.New(proof.Config{
		Store: sipstore.Proofs{DB: p.DB}, Atomic: p.DB, Work: p.Work, Trunks: p.Trunks,
		Announcer: proof.Voice{Line: p.Line.TestLine(), Speaker: voice{p.SpeechEngine}},
		Key:       s.NumberProofs, From: c.NumberProofFrom, Runtime: p.Runtime,
		Ready: func() error {
			if missing, ok := p.SpeechEngine.(absent); ok {
				return missing.err
			}
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	lc.Append(fx.StopHook(proofs.Close))
	return proofs, nil
}
