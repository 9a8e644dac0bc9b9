package conversation

import "time"

// DefaultSilence is the default of Config.Silence.
const DefaultSilence = 10 * time.Second

// Number returns the number of the level in the API: see InterruptibilityOf. Inherited has the number of NormallyInterrupted.
func (i Interruptibility) Number() int {
	if i == Inherited {
		i = NormallyInterrupted
	}
	return int(i - NeverInterrupted)
}

// Threshold returns the voice that pauses the agent at the level, or 0 if no voice does. Inherited has the threshold of NormallyInterrupted.
func (i Interruptibility) Threshold() time.Duration {
	if i == Inherited {
		i = NormallyInterrupted
	}
	return bargeInRules[i].pause
}
