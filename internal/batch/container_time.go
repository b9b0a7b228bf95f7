package batch

import "time"

// runtimeTime is a point in time as a container runtime writes it.
type runtimeTime struct {
	sec    int64 // since 1970
	nsec   int64
	offset int  // seconds east of UTC
	zulu   bool // written with a Z
}

// nanos is the time in nanoseconds since 1970.
func (t runtimeTime) nanos() int64 { return t.sec*int64(time.Second) + t.nsec }

// time is what time.ParseInLocation makes of the same text in the local zone:
// operators can see the zone.
func (t runtimeTime) time() time.Time {
	if t.zulu {
		return time.Unix(t.sec, t.nsec).UTC()
	}
	local := time.Unix(t.sec, t.nsec)
	switch _, offset := local.Zone(); {
	case offset == t.offset:
		return local
	case t.offset == 0:
		return local.UTC()
	default:
		return local.In(time.FixedZone("", t.offset))
	}
}

// The years for which nanoseconds since 1970 fit into 63 bits and are not negative.
const (
	firstRuntimeYear = 1970
	lastRuntimeYear  = 2261
)

// parseRuntimeTime reads RFC 3339 with up to nine digits of a second's fraction,
// as runtimes write it. It says no to what is unusual, be it valid or not.
func parseRuntimeTime(s string) (t runtimeTime, ok bool) {
	const seconds = "2006-01-02T15:04:05"
	if len(s) <= len(seconds) || s[4] != '-' || s[7] != '-' || s[10] != 'T' || s[13] != ':' || s[16] != ':' {
		return t, false
	}
	century, inCentury, month, day := twoDigits(s, 0), twoDigits(s, 2), twoDigits(s, 5), twoDigits(s, 8)
	hour, minute, second := twoDigits(s, 11), twoDigits(s, 14), twoDigits(s, 17)
	if century|inCentury|month|day|hour|minute|second < 0 || hour > 23 || minute > 59 || second > 59 {
		return t, false
	}
	year := century*100 + inCentury
	if year < firstRuntimeYear || year > lastRuntimeYear || month < 1 || month > 12 || day < 1 || day > daysOf(year, month) {
		return t, false
	}
	rest := s[len(seconds):]
	if rest[0] == '.' {
		digits := 0
		for rest = rest[1:]; digits < len(rest) && isDigit(rest[digits]); digits++ {
			t.nsec = t.nsec*10 + int64(rest[digits]-'0')
			if digits == 9 {
				return t, false
			}
		}
		if digits == 0 {
			return t, false
		}
		rest = rest[digits:]
		for ; digits < 9; digits++ {
			t.nsec *= 10
		}
	}
	if t.zulu = rest == "Z"; !t.zulu {
		if len(rest) != len("+07:00") || rest[3] != ':' {
			return t, false
		}
		hours, minutes := twoDigits(rest, 1), twoDigits(rest, 4)
		if hours|minutes < 0 || hours > 23 || minutes > 59 {
			return t, false
		}
		switch t.offset = hours*3600 + minutes*60; rest[0] {
		case '+':
		case '-':
			t.offset = -t.offset
		default:
			return t, false
		}
	}
	t.sec = int64(daysSince1970(year, month, day))*86400 + int64(hour*3600+minute*60+second-t.offset)
	return t, t.sec >= 0
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// twoDigits is the number at s[i:i+2], negative if there is none.
func twoDigits(s string, i int) int {
	if !isDigit(s[i]) || !isDigit(s[i+1]) {
		return -1
	}
	return int(s[i]-'0')*10 + int(s[i+1]-'0')
}

var daysBefore = [...]int{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365} // of each month

func isLeap(year int) bool { return year%4 == 0 && (year%100 != 0 || year%400 == 0) }

func daysOf(year, month int) int {
	if month == 2 && isLeap(year) {
		return 29
	}
	return daysBefore[month] - daysBefore[month-1]
}

func daysSince1970(year, month, day int) int {
	y := year - 1
	days := (year-1970)*365 + (y/4 - y/100 + y/400) - (1969/4 - 1969/100 + 1969/400)
	days += daysBefore[month-1] + day - 1
	if month > 2 && isLeap(year) {
		days++
	}
	return days
}
