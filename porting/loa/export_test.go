package loa

// SameName reports whether two names are taken for the same.
func SameName(a, b string) bool { return sameName(a, b) }

// Record chains events to the audit trail of a letter.
func (l *Letter) Record(events ...Event) []Event { return l.record(events...) }
