------------------------- MODULE TraceTranscriptWindow -------------------------
(***************************************************************************)
(* A trace of the running program: each of its lines must be a step that   *)
(* TranscriptWindow allows, or an event that it does not. Reads the file   *)
(* that the environment variable TRACE names (Json and IOUtils are of the  *)
(* TLA+ community modules). All windows of one trace have one              *)
(* configuration.                                                          *)
(***************************************************************************)
EXTENDS TranscriptWindow, Json, IOUtils

Trace == ndJsonDeserialize(IOEnv.TRACE)

Config == Trace[1].config
TraceWindow == Config.window
TraceStep == Config.step
TraceSlice == Config.slice
TraceMaxLive == Config.maxLive
TraceMaxHeld == IF "maxHeld" \in DOMAIN Config THEN Config.maxHeld ELSE 0
TraceFollow == Config.followWhileOpen
TraceJump == Config.jump

VARIABLE line

ToSet(s) == {s[i] : i \in 1 .. Len(s)}

(* JSON has no sets: a trace has the live ids in rising order. *)
WindowOf(state) == [state EXCEPT !.live = ToSet(state.live)]

Met(e) == IF "met" \in DOMAIN e THEN e.met ELSE FALSE

Takes(e) ==
    CASE e.type = "turn_started" -> TurnStarted
      [] e.type = "turn_ended" -> TurnEnded
      [] e.type = "block_opened" -> BlockOpened(e.id)
      [] e.type = "block_changed" -> BlockChanged(e.id)
      [] e.type = "block_finished" -> BlockFinished(e.id)
      [] e.type = "saved_through" -> SavedThrough(e.seq)
      [] e.type = "compacted" -> Compacted
      [] e.type = "resized" -> Resized
      [] e.type = "reprint_tick" -> ReprintTick
      [] e.type = "ctrlo_opened" -> CtrloOpened
      [] e.type = "ctrlo_closed" -> CtrloClosed
      [] e.type = "ctrlo_scrolled" -> CtrloScrolled(e.dir)
      [] e.type = "ctrlo_jumped" -> CtrloJumped(e.to)
      [] e.type = "log_read_done" -> LogReadDone(e.token, e.count, Met(e))
      [] e.type = "log_read_failed" -> LogReadFailed(e.token)
      [] e.type = "resumed" -> Resumed(e.cycle, e.cycleFirst, e.nextSeq, None)

(* A line without an event begins a window. *)
Begins(l) ==
    /\ "event" \notin DOMAIN l
    /\ w' = NewWindow(l.state.save)
    /\ effects' = <<>>
    /\ event' = NoEvent
    /\ g' = NewGhosts(None)

Steps(l) ==
    /\ "event" \in DOMAIN l
    /\ "rejected" \notin DOMAIN l
    /\ Takes(l.event)

Rejects(l) ==
    /\ "event" \in DOMAIN l
    /\ "rejected" \in DOMAIN l
    /\ ~ENABLED Takes(l.event)
    /\ effects' = <<>>
    /\ event' = NoEvent
    /\ UNCHANGED <<w, g>>

TraceInit ==
    /\ line = 0
    /\ w = NewWindow(Trace[1].state.save)
    /\ effects = <<>>
    /\ event = NoEvent
    /\ g = NewGhosts(None)

TraceNext ==
    /\ line < Len(Trace)
    /\ line' = line + 1
    /\ Begins(Trace[line + 1]) \/ Steps(Trace[line + 1]) \/ Rejects(Trace[line + 1])
    /\ w' = WindowOf(Trace[line + 1].state)
    /\ effects' = Trace[line + 1].effects

traceVars == <<w, effects, event, g, line>>

TraceSpec == TraceInit /\ [][TraceNext]_traceVars /\ WF_traceVars(TraceNext)

(* The whole trace was taken: at a line that is no allowed step, TLC stops short of it. *)
TraceAccepted == <>(line = Len(Trace))
=============================================================================
