package oas

// RawHandler is a name that the generated code refers to and, when every raw operation belongs to a group, forgets to
// declare: the methods of those operations are in the interfaces of their groups.
type RawHandler = any
