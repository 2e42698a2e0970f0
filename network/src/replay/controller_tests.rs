use super::super::admission::Row;
use super::super::identity::tests::tape;
use super::*;

fn identity() -> TapeIdentity {
    TapeIdentity::of(&tape())
}

fn subject() -> Subject {
    Subject { device: "A".into(), driver: "1".into(), model: "m".into(), extent: "64x64".into() }
}

/// A controller that a person asked for, walked to ready.
fn ready() -> Controller {
    let mut controller = Controller::new(ReplayRoute::Primary, true);
    assert!(!controller.direct_frame() && controller.direct_frame());
    controller.captured(identity());
    assert!(controller.wants_shadow());
    controller.shadow_frame(None);
    controller.shadow_frame(None);
    controller
}

fn selected(controller: &Controller, conditions: Conditions) -> Decision {
    controller.decide(&conditions, &Registry::default(), &subject())
}

#[test]
fn the_way_to_ready_is_logged_step_by_step() {
    let controller = ready();
    let names: Vec<&str> = controller.log().iter().map(|t| t.to).collect();
    assert_eq!(names, ["warming", "capturing", "captured", "shadow-validated", "ready"]);
    let decision = selected(&controller, Conditions::default());
    assert_eq!((decision.selected, decision.reason.as_str()), (ReplayRoute::Primary, ""));
}

#[test]
fn nothing_before_ready_is_replayed() {
    let mut controller = Controller::new(ReplayRoute::Secondary, true);
    for expected in ["warming", "warming", "capturing", "captured", "captured"] {
        let decision = selected(&controller, Conditions::default());
        assert_eq!(decision.selected, ReplayRoute::Direct);
        assert_eq!(decision.reason, format!("not ready: {expected}"));
        match expected {
            "warming" => _ = controller.direct_frame(),
            "capturing" => controller.captured(identity()),
            _ => controller.shadow_frame(None),
        }
    }
    assert_eq!(selected(&controller, Conditions::default()).selected, ReplayRoute::Secondary);
    assert_eq!(selected(&Controller::default(), Conditions::default()).reason, "no retained route was asked for");
}

#[test]
fn every_negative_selects_direct_and_says_why() {
    let none = Conditions::default();
    let cases = [
        (Conditions { instrumented: true, ..none }, "an instrumented frame keeps every tensor"),
        (Conditions { boundary_capture: true, ..none }, "the frame is being captured"),
        (Conditions { profiling: true, ..none }, "the frame is being profiled"),
        (Conditions { time_sliced: true, ..none }, "the frame runs in several submissions"),
        (Conditions { resizing: true, ..none }, "the size is being changed"),
        (Conditions { model_change: true, ..none }, "the model is being changed"),
        (Conditions { validation: true, ..none }, "the validation layer is on"),
    ];
    for (conditions, reason) in cases {
        let decision = selected(&ready(), conditions);
        assert_eq!((decision.selected, decision.reason.as_str()), (ReplayRoute::Direct, reason));
        assert_eq!(decision.state, State::Ready);
    }
}

#[test]
fn without_opting_in_only_an_exact_row_admits() {
    let mut controller = ready();
    controller.opted_in = false;
    let subject = subject();
    let unknown = controller.decide(&Conditions::default(), &Registry::default(), &subject);
    assert_eq!(unknown.selected, ReplayRoute::Direct);
    assert!(unknown.reason.contains("no registry row is for device A"), "{}", unknown.reason);
    let row = Row {
        device: "A".into(),
        driver: "1".into(),
        model: "m".into(),
        extent: "64x64".into(),
        route: ReplayRoute::Primary,
        tape: identity().digest(),
        report: "r".into(),
    };
    let registry = |row: Row| Registry { rows: vec![row] };
    let with = |row: Row| controller.decide(&Conditions::default(), &registry(row), &subject);
    assert_eq!(with(row.clone()).selected, ReplayRoute::Primary);
    for (other, field) in [
        (Row { device: "B".into(), ..row.clone() }, "device"),
        (Row { driver: "2".into(), ..row.clone() }, "driver"),
        (Row { model: "n".into(), ..row.clone() }, "model"),
        (Row { extent: "96x64".into(), ..row.clone() }, "extent class"),
        (Row { route: ReplayRoute::Secondary, ..row.clone() }, "route"),
        (Row { tape: "t".into(), ..row }, "tape"),
    ] {
        let decision = with(other);
        assert_eq!(decision.selected, ReplayRoute::Direct, "{field}");
        assert!(decision.reason.contains(field), "{}", decision.reason);
    }
}

#[test]
fn a_failed_preparation_is_sticky_until_a_reset() {
    for fail in [
        |c: &mut Controller| c.preparation_failed("no memory for the recording"),
        |c: &mut Controller| c.shadow_frame(Some("head".into())),
    ] {
        let mut controller = Controller::new(ReplayRoute::Primary, true);
        controller.direct_frame();
        controller.direct_frame();
        controller.captured(identity());
        fail(&mut controller);
        let State::Fallback(reason) = controller.state().clone() else { panic!("{:?}", controller.state()) };
        // Good frames change nothing.
        for _ in 0..5 {
            assert!(!controller.direct_frame());
            controller.shadow_frame(None);
        }
        let decision = selected(&controller, Conditions::default());
        assert_eq!((decision.selected, decision.reason), (ReplayRoute::Direct, format!("fallback: {reason}")));
        assert!(controller.log().last().unwrap().event.contains("the direct frame stands"));
        controller.reset();
        assert_eq!(controller.state(), &State::Warming);
    }
}

#[test]
fn a_failed_replay_is_an_error_once_and_then_direct() {
    let mut controller = ready();
    controller.replay_failed("the submission was refused");
    assert_eq!(controller.state(), &State::Fallback("the submission was refused".into()));
    assert!(controller.log().last().unwrap().event.contains("its frame is an error"));
    assert_eq!(selected(&controller, Conditions::default()).selected, ReplayRoute::Direct);
}

#[test]
fn a_tape_that_changed_is_poisoned_and_only_a_discard_helps() {
    let mut controller = ready();
    controller.check_identity(&identity());
    assert_eq!(controller.state(), &State::Ready);
    let mut other = tape();
    other.entries[0].push[0] ^= 1;
    controller.check_identity(&TapeIdentity::of(&other));
    assert_eq!(controller.state(), &State::Poisoned("the tape's sequence changed".into()));
    controller.reset();
    controller.replay_failed("later");
    assert!(matches!(controller.state(), State::Poisoned(_)));
    assert!(selected(&controller, Conditions::default()).reason.starts_with("poisoned: the tape's sequence"));
    controller.discard(Discard::Device);
    assert_eq!(controller.state(), &State::Warming);
}

#[test]
fn resize_model_and_device_discard_tape_and_fallback() {
    for why in [Discard::Resize, Discard::Model, Discard::Device] {
        let mut controller = ready();
        controller.replay_failed("something");
        controller.discard(why);
        assert_eq!((controller.state(), controller.identity()), (&State::Warming, None));
        let idle = controller.log().iter().rev().nth(1).unwrap();
        assert_eq!(idle.to, "idle");
        assert!(idle.event.contains(&why.to_string()), "{}", idle.event);
    }
}

#[test]
fn asking_for_another_route_starts_over() {
    let mut controller = ready();
    controller.request(ReplayRoute::Secondary, true);
    assert_eq!(controller.state(), &State::Warming);
    controller.request(ReplayRoute::Direct, true);
    assert_eq!(controller.state(), &State::Idle);
}
