package config

import _ "embed"

// Example is the configuration file that is shipped: every key, with comments, saying what holds without it.
//
//go:embed recrawld.yaml
var Example string
