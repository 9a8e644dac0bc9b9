package loa

// SameName exports sameName, which compares a typed name with the representative's.
func SameName(a, b string) bool { return sameName(a, b) }

// Record exports Letter.record, which appends events to a letter's audit trail.
func (l *Letter) Record(events ...Event) []Event { return l.record(events...) }
