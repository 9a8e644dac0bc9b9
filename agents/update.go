package agents

import (
	"slices"

	"github.com/callwright/callwright"
)

// refusesSetting lists the codes of faults that refuse only one setting. Any other fault fails the whole update.
var refusesSetting = map[callwright.Code]bool{
	callwright.CodeBadRequest: true, callwright.CodeNotFound: true, callwright.CodeInvalidState: true,
}

// apply applies changes to w in order, and reports the outcome of each setting. A change is applied unless it causes a fault. faults sets
// an agent's defaults and returns its faults. A fault that existed before, such as a deleted pathway, does not refuse other settings. apply
// returns an error only for a fault that fails the whole update.
func apply(w *WebAgent, changes []change, faults func(*WebAgent) []error) (Report, error) {
	report := Report{}
	for _, c := range changes {
		refusal := c.refusal
		if refusal == nil {
			changed := *w
			c.set(&changed)
			refusal = c.causes(faults(&changed), func() []error {
				before := *w
				return faults(&before)
			})
			if refusal == nil {
				*w = changed
			} else if !refusesSetting[callwright.CodeOf(refusal)] {
				return nil, refusal
			}
		}
		for _, name := range c.settings {
			report[name] = refusal
		}
	}
	return report, nil
}

// causes returns the first of the faults after the change that concerns the change, is internal, or is not among the faults before the
// change. It returns nil if there is none.
func (c change) causes(after []error, before func() []error) error {
	if len(after) == 0 {
		return nil
	}
	known := before()
	for _, fault := range after {
		same := func(k error) bool { return k.Error() == fault.Error() }
		if c.isAbout(fault) || callwright.CodeOf(fault) == callwright.CodeInternal || !slices.ContainsFunc(known, same) {
			return fault
		}
	}
	return nil
}
