package config

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	good := map[string]time.Duration{
		"90s": 90 * time.Second, "6h": 6 * time.Hour, "30d": 30 * day, "2w": 14 * day, "1h30m": 90 * time.Minute,
		"1.5h": 90 * time.Minute, "250ms": 250 * time.Millisecond, "0s": 0, "1d12h": 36 * time.Hour, "7us3ns": 7003,
	}
	for text, want := range good {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "6", "0", "h", "6 h", "-6h", "+6h", "6H", "6hh", "6h3", "1.2.3h", ".h", "6x", "6min", "300000000000000000d", "１h", "inf", "0x1h"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("ParseDuration(%q) = %v, want an error", text, got)
		}
	}
}

func TestParseSize(t *testing.T) {
	t.Parallel()
	good := map[string]int64{
		"512MiB": 512 * mib, "2GiB": 2 * gib, "10MB": 10_000_000, "1.5KiB": 1536, "17B": 17, "0B": 0, "1TiB": 1 << 40, "3kB": 3000, "3KB": 3000,
	}
	for text, want := range good {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "6", "6M", "6mb", "6 MB", "-6MB", "MiB", "9999999TiB", "1e3B"} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("ParseSize(%q) = %v, want an error", text, got)
		}
	}
}

func TestParsePercent(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{"15%": 0.15, "0%": 0, "2.5%": 0.025, "100%": 1, "7%": 0.07} {
		if got, err := parsePercent(text); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("parsePercent(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "15", "%", "a%", "NaN%", "inf%", "1e2%", "-3%", "15 %", "15%%"} {
		if got, err := parsePercent(text); err == nil {
			t.Errorf("parsePercent(%q) = %v, want an error", text, got)
		}
	}
}

// What is written is read as the same value.
func TestUnitsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		// Numbers are read as floats: up to 2^53 ns (104 days) and 2^53 bytes they are exact one by one.
		d := time.Duration(rapid.Int64Range(0, 1<<53).Draw(t, "duration"))
		if got, err := ParseDuration(FormatDuration(d)); err != nil || got != d {
			t.Errorf("%d is written %s and read as %d, %v", d, FormatDuration(d), got, err)
		}
		n := rapid.Int64Range(0, 1<<53).Draw(t, "size")
		if got, err := ParseSize(FormatSize(n)); err != nil || got != n {
			t.Errorf("%d is written %s and read as %d, %v", n, FormatSize(n), got, err)
		}
		v := float64(rapid.IntRange(0, 10000).Draw(t, "percent")) / 10000
		if got, err := parsePercent(formatPercent(v)); err != nil || math.Abs(got-v) > 1e-12 {
			t.Errorf("%v is written %s and read as %v, %v", v, formatPercent(v), got, err)
		}
	})
}

func TestFormatDuration(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		0: "0s", 6 * time.Hour: "6h", 90 * day: "90d", 14 * day: "14d", 90 * time.Minute: "1h30m", 48 * time.Hour: "2d", 1: "1ns",
		-time.Second: "-1s", -90 * time.Minute: "-1h30m",
	} {
		if got := FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestFormatSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0B", 17: "17B", 64 * mib: "64MiB", 10_000_000: "10MB", 1536: "1536B", 3000: "3kB"} {
		if got := FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %q, want %q", n, got, want)
		}
	}
}
